#include "collectives/arithmetic/arithmetic.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "collectives/arithmetic/kernels.hpp"
#include "collectives/compressors/half.hpp"

namespace hbench {
namespace {

using arithmetic::Fold;
using arithmetic::Kernels;

/// Worked on at once: of each source so much is read, then of each target so much is written. Small enough for the
/// partial results to stay in the first-level cache.
constexpr std::size_t kTileBytes = 4096;

const Kernels& kernels() {
  static const Kernels& best = *arithmetic::supported_kernels().at[0];
  return best;
}

arithmetic::Value value_of(DataType type) {
  switch (type) {
    case DataType::float64:
      return arithmetic::kDouble;
    case DataType::int32:
      return arithmetic::kInt32;
    case DataType::int64:
      return arithmetic::kInt64;
    case DataType::uint8:
      return arithmetic::kUint8;
    case DataType::float32:
    case DataType::float16:
    case DataType::bfloat16:
      break;
  }
  return arithmetic::kFloat;
}

arithmetic::Operation operation_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::min:
      return arithmetic::kMin;
    case ReduceOp::max:
      return arithmetic::kMax;
    case ReduceOp::product:
      return arithmetic::kProduct;
    case ReduceOp::sum:
    case ReduceOp::average:
      break;
  }
  return arithmetic::kSum;
}

/// Between a stored type of 16 bits and float32.
struct Conversion {
  void (*widen)(const std::byte* in, float* out, std::size_t elements);
  void (*narrow)(const float* in, std::byte* out, std::size_t elements);
};

constexpr Conversion kFloat16{[](const std::byte* in, float* out, std::size_t n) {
                                float16_conversion().widen({in, 2 * n}, {out, n});
                              },
                              [](const float* in, std::byte* out, std::size_t n) {
                                float16_conversion().narrow({in, n}, {out, 2 * n});
                              }};

constexpr Conversion kBfloat16{
    [](const std::byte* in, float* out, std::size_t n) { kernels().widen_bfloat16(in, out, n); },
    [](const float* in, std::byte* out, std::size_t n) { kernels().narrow_bfloat16(in, out, n); }};

/// One call of `combine`, tile by tile.
class Combination {
 public:
  Combination(DataType type, ReduceOp op, std::span<const std::byte* const> sources,
              std::span<std::byte* const> targets, int divisor)
      : fold_(kernels().fold[value_of(type)][operation_of(op)]),
        divide_(kernels().divide[value_of(type)]),
        size_(size_of(type)),
        sources_(sources),
        targets_(targets),
        divisor_(divisor) {}

  /// Elements are combined as they are stored. What is partial lies in the first target when that is no source that is
  /// yet to be read, else in a tile of our own.
  void plain(std::size_t at, std::size_t bytes) const {
    alignas(64) std::array<std::byte, kTileBytes> partial;
    const std::size_t elements = bytes / size_;
    const void* inputs[arithmetic::kMaxInputs] = {};
    std::size_t used = 0;
    int count = 0;
    do {
      while (count < arithmetic::kMaxInputs && used < sources_.size()) inputs[count++] = sources_[used++] + at;
      const bool last = used == sources_.size();
      void* out = last ? targets_[0] + at : partial.data();
      fold_(inputs, count, out, elements);
      inputs[0] = out;
      count = 1;
    } while (used < sources_.size());
    if (divisor_ != 1) divide_(targets_[0] + at, elements, divisor_);
    spread(at, bytes);
  }

  /// Elements are combined in float32, whatever they are stored as, and rounded once.
  void converted(const Conversion& conversion, std::size_t at, std::size_t bytes) const {
    constexpr std::size_t kElements = kTileBytes / 2;
    alignas(64) std::array<float, kElements> partial;
    alignas(64) std::array<float, kElements> next;
    const std::size_t elements = bytes / size_;
    conversion.widen(sources_[0] + at, partial.data(), elements);
    for (const std::byte* source : sources_.subspan(1)) {
      conversion.widen(source + at, next.data(), elements);
      const void* const inputs[] = {partial.data(), next.data()};
      fold_(inputs, 2, partial.data(), elements);
    }
    if (divisor_ != 1) divide_(partial.data(), elements, divisor_);
    conversion.narrow(partial.data(), targets_[0] + at, elements);
    spread(at, bytes);
  }

 private:
  void spread(std::size_t at, std::size_t bytes) const {
    for (std::byte* target : targets_.subspan(1))
      if (target != targets_[0]) std::memcpy(target + at, targets_[0] + at, bytes);
  }

  Fold fold_;
  arithmetic::Divide divide_;
  std::size_t size_;
  std::span<const std::byte* const> sources_;
  std::span<std::byte* const> targets_;
  int divisor_;
};

template <class T>
T neutral(ReduceOp op) {
  using Limits = std::numeric_limits<T>;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return 0;
    case ReduceOp::min:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case ReduceOp::max:
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case ReduceOp::product:
      return 1;
  }
  return 0;
}

template <class T>
void fill(T value, std::span<std::byte> buffer) {
  for (std::size_t at = 0; at + sizeof value <= buffer.size(); at += sizeof value)
    std::memcpy(buffer.data() + at, &value, sizeof value);
}

void fill_converted(const Conversion& conversion, ReduceOp op, std::span<std::byte> buffer) {
  const auto value = neutral<float>(op);
  std::uint16_t stored = 0;
  conversion.narrow(&value, reinterpret_cast<std::byte*>(&stored), 1);
  fill(stored, buffer);
}

}  // namespace

void accumulate(DataType type, ReduceOp op, std::span<const std::byte> in, std::span<std::byte> inout) {
  const std::byte* const sources[] = {inout.data(), in.data()};
  std::byte* const targets[] = {inout.data()};
  combine(type, op, sources, targets, inout.size(), 1);
}

void combine(DataType type, ReduceOp op, std::span<const std::byte* const> sources, std::span<std::byte* const> targets,
             std::size_t bytes, int divisor) {
  const Combination combination(type, op, sources, targets, divisor);
  for (std::size_t at = 0; at < bytes; at += kTileBytes) {
    const std::size_t tile = std::min(kTileBytes, bytes - at);
    if (type == DataType::float16) {
      combination.converted(kFloat16, at, tile);
    } else if (type == DataType::bfloat16) {
      combination.converted(kBfloat16, at, tile);
    } else {
      combination.plain(at, tile);
    }
  }
}

void fill_neutral(DataType type, ReduceOp op, std::span<std::byte> buffer) {
  switch (type) {
    case DataType::float32:
      return fill(neutral<float>(op), buffer);
    case DataType::float64:
      return fill(neutral<double>(op), buffer);
    case DataType::float16:
      return fill_converted(kFloat16, op, buffer);
    case DataType::bfloat16:
      return fill_converted(kBfloat16, op, buffer);
    case DataType::int32:
      return fill(neutral<std::int32_t>(op), buffer);
    case DataType::int64:
      return fill(neutral<std::int64_t>(op), buffer);
    case DataType::uint8:
      return fill(neutral<std::uint8_t>(op), buffer);
  }
}

void finish(DataType type, ReduceOp op, int workers, std::span<std::byte> buffer) {
  if (op != ReduceOp::average || workers == 1) return;
  const std::byte* const sources[] = {buffer.data()};
  std::byte* const targets[] = {buffer.data()};
  combine(type, ReduceOp::sum, sources, targets, buffer.size(), workers);
}

}  // namespace hbench
