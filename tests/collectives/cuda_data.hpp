#pragma once

/// What the tests of CUDA code share: fresh data of every type, buffers at awkward addresses, and comparing.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/cuda/elements.cuh"

namespace hbench::support {

constexpr std::byte kPoison{0xa5};

/// True where the GPU is emulated (tests/emulated_gpu): six blocks fill it, and every access is looked at.
#ifdef HBENCH_EMULATED_GPU
constexpr bool kEmulatedGpu = true;
#else
constexpr bool kEmulatedGpu = false;
#endif

/// `all` on a GPU, and a `share` of them where it is emulated.
constexpr std::size_t emulated_share(std::size_t share, std::size_t all) { return kEmulatedGpu ? all / share : all; }

/// Any bits for halves and integers; for floats normal numbers with NaN, infinities, zeros of both signs and subnormals
/// among them. New ones with every call.
inline std::vector<std::byte> random_elements(DataType type, std::size_t elements, std::mt19937_64& random) {
  std::vector<std::byte> bytes(elements * size_of(type));
  std::normal_distribution<double> normal(0, 3);
  const auto put = [&]<class T>(std::size_t i, T value) {
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  };
  const auto floating = [&]<class T>(T) {
    using Limits = std::numeric_limits<T>;
    constexpr T kSpecial[] = {Limits::quiet_NaN(),      Limits::infinity(), -Limits::infinity(), T(0), -T(0),
                              Limits::denorm_min() * 3, Limits::max(),      Limits::lowest()};
    for (std::size_t i = 0; i < elements; ++i)
      put(i, random() % 8 == 0 ? kSpecial[random() % std::size(kSpecial)] : static_cast<T>(normal(random)));
  };
  if (type == DataType::float32) {
    floating(float());
  } else if (type == DataType::float64) {
    floating(double());
  } else {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  }
  return bytes;
}

inline std::span<float> as_floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}
inline std::span<const float> as_floats(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

inline bool is_nan(DataType type, const std::byte* at) {
  bool nan = false;
  cuda::with_element(type, [&]<class Element>(Element) {
    const auto value = Element::value(cuda::load_one<typename Element::Stored>(at));
    nan = value != value;
  });
  return nan;
}

/// The same bits; where both are NaN, which one is the processor's choice.
inline ::testing::AssertionResult same_elements(DataType type, std::span<const std::byte> found,
                                                std::span<const std::byte> right) {
  if (found.size() != right.size()) return ::testing::AssertionFailure() << found.size() << " and " << right.size();
  const std::size_t size = size_of(type);
  for (std::size_t at = 0; at < found.size(); at += size) {
    if (std::memcmp(found.data() + at, right.data() + at, size) == 0) continue;
    if (is_nan(type, found.data() + at) && is_nan(type, right.data() + at)) continue;
    return ::testing::AssertionFailure() << "element " << at / size << " of " << found.size() / size;
  }
  return ::testing::AssertionSuccess();
}

/// Bytes at an address that is `off` from one of 256 bytes, poisoned, with poison around them. `memory` has
/// `kGuard + off + bytes + kGuard` bytes.
struct Placed {
  static constexpr std::size_t kGuard = 256;
  std::size_t off = 0;
  std::size_t bytes = 0;

  std::size_t all() const { return kGuard + off + bytes + kGuard; }
  std::span<std::byte> of(std::span<std::byte> memory) const { return memory.subspan(kGuard + off, bytes); }
  bool guarded(std::span<const std::byte> memory) const {
    for (std::size_t i = 0; i < all(); ++i)
      if ((i < kGuard + off || i >= kGuard + off + bytes) && memory[i] != kPoison) return false;
    return true;
  }
};

/// Offsets of two buffers in elements: both aligned, both off alike, off differently.
struct Offsets {
  std::size_t first;
  std::size_t second;
};
constexpr Offsets kOffsets[] = {{0, 0}, {1, 1}, {3, 3}, {0, 1}, {2, 5}};
constexpr NumbersChange::Kind kChanges[] = {NumbersChange::Kind::multiply, NumbersChange::Kind::add,
                                            NumbersChange::Kind::add_product, NumbersChange::Kind::add_ratio};
/// None, one, less than a wide access, about one of 16 bytes, about a tile of 1024 groups, several with a rest.
constexpr std::size_t kCounts[] = {0, 1, 3, 7, 16, 17, 255, 1023, 4096, 4099, 16385, 70001};

template <class Test>
void for_each_type_and_operation(Test test) {
  for (const DataTypeEntry* type : data_types())
    for (const ReduceOpEntry* op : reduce_ops()) {
      SCOPED_TRACE(std::string(type->name) + " " + std::string(op->name));
      test(type->type, op->op);
    }
}

}  // namespace hbench::support
