// What CUDA kernels do, run on the host against the loops of the host: no GPU is needed.

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/arithmetic/half.hpp"
#include "collectives/cuda/facts.hpp"
#include "collectives/cuda/reductions.cuh"
#include "tests/collectives/cuda_host.hpp"

namespace hbench::cuda_elements_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

TEST(CudaElements, WidenEveryHalfAsTheHostDoes) {
  for (std::uint32_t i = 0; i < 0x10000; ++i) {
    const auto half = static_cast<std::uint16_t>(i);
    float float16 = 0;
    float bfloat16 = 0;
    float16_conversion().widen(std::as_bytes(std::span(&half, 1)), {&float16, 1});
    bfloat16_conversion().widen(std::as_bytes(std::span(&half, 1)), {&bfloat16, 1});
    ASSERT_EQ(cuda::same_bits<std::uint32_t>(cuda::Float16::widened(half)), cuda::same_bits<std::uint32_t>(float16));
    ASSERT_EQ(cuda::same_bits<std::uint32_t>(cuda::Bfloat16::widened(half)), cuda::same_bits<std::uint32_t>(bfloat16));
  }
}

// All signs, exponents and upper digits, each with the lower digits around a tie of either format, and any others.
TEST(CudaElements, NarrowFloatsFromAllOverTheRangeAsTheHostDoes) {
  std::mt19937_64 random(std::random_device{}());
  constexpr std::array kLower{0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu};
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    std::vector<float> floats;
    for (const std::uint32_t lower : kLower) floats.push_back(cuda::same_bits<float>(upper << 16 | lower));
    for (int i = 0; i < 7; ++i)
      floats.push_back(cuda::same_bits<float>(upper << 16 | static_cast<std::uint16_t>(random())));
    std::vector<std::uint16_t> float16(floats.size());
    std::vector<std::uint16_t> bfloat16(floats.size());
    float16_conversion().narrow(floats, std::as_writable_bytes(std::span(float16)));
    bfloat16_conversion().narrow(floats, std::as_writable_bytes(std::span(bfloat16)));
    for (std::size_t i = 0; i < floats.size(); ++i) {
      ASSERT_EQ(cuda::Float16::narrowed(floats[i]), float16[i]) << std::hexfloat << floats[i];
      ASSERT_EQ(cuda::Bfloat16::narrowed(floats[i]), bfloat16[i]) << std::hexfloat << floats[i];
    }
  }
}

TEST(CudaElements, DivideEveryByteByAnyNumberOfWorkers) {
  std::vector<int> divisors(70000);
  std::iota(divisors.begin(), divisors.end(), 1);
  divisors.push_back(std::numeric_limits<int>::max());
  for (const int divisor : divisors)
    for (int byte = 0; byte < 256; ++byte)
      ASSERT_EQ(cuda::divided(static_cast<std::uint8_t>(byte), cuda::Divisor(divisor)), byte / divisor)
          << byte << " / " << divisor;
}

TEST(CudaElements, DivideFloatsOfAnySizeAsADivisionDoes) {
  std::mt19937 random(std::random_device{}());
  for (int i = 0; i < 4'000'000; ++i) {
    const int divisor = 1 + static_cast<int>(random() >> (1 + random() % 31) & 0x7fff'ffff);
    const float quotient = static_cast<float>(divisor);
    // Any pattern of bits, and what is next to a multiple of the divisor, where rounding turns.
    float value = cuda::same_bits<float>(static_cast<std::uint32_t>(random()));
    if (i % 2 == 0) value = std::nextafter(value * quotient, i % 4 == 0 ? HUGE_VALF : -HUGE_VALF);
    const float right = value / quotient;
    const float divided = cuda::divided(value, cuda::Divisor(divisor));
    if (std::isnan(right)) {
      ASSERT_TRUE(std::isnan(divided));
    } else {
      ASSERT_EQ(cuda::same_bits<std::uint32_t>(divided), cuda::same_bits<std::uint32_t>(right))
          << std::hexfloat << value << " / " << divisor;
    }
  }
}

TEST(CudaReductions, AccumulateAsTheHostDoesForEveryTypeAndOperation) {
  std::mt19937_64 random(std::random_device{}());
  for_each_type_and_operation([&](DataType type, ReduceOp op) {
    for (const std::size_t elements : kCounts)
      for (const auto& [in_off, inout_off] : kOffsets) {
        const std::size_t bytes = elements * size_of(type);
        const Placed in_place{in_off * size_of(type), bytes};
        const Placed inout_place{inout_off * size_of(type), bytes};
        HostMemory in(in_place);
        HostMemory inout(inout_place);
        const std::vector<std::byte> given = random_elements(type, elements, random);
        std::vector<std::byte> right = random_elements(type, elements, random);
        std::ranges::copy(given, in_place.of(in.all()).begin());
        std::ranges::copy(right, inout_place.of(inout.all()).begin());
        accumulate(type, op, given, right);
        cuda::with_accumulate(type, op, in_place.of(in.all()).data(), inout_place.of(inout.all()).data(), bytes,
                              [](const auto& work, const cuda::Extent& extent) { run_on_host(work, extent, 3); });
        ASSERT_TRUE(same_elements(type, inout_place.of(inout.all()), right)) << in_off << ", " << inout_off;
        ASSERT_TRUE(in_place.guarded(in.all()) && inout_place.guarded(inout.all()));
      }
  });
}

TEST(CudaReductions, FillAndFinishAsTheHostDoesForEveryTypeAndOperation) {
  std::mt19937_64 random(std::random_device{}());
  for_each_type_and_operation([&](DataType type, ReduceOp op) {
    for (const std::size_t elements : kCounts)
      for (const std::size_t off : {0, 1, 3}) {
        const std::size_t bytes = elements * size_of(type);
        const Placed place{off * size_of(type), bytes};
        const auto run = [](const auto& work, const cuda::Extent& extent) { run_on_host(work, extent, 2); };
        HostMemory filled(place);
        std::vector<std::byte> right(bytes);
        fill_neutral(type, op, right);
        cuda::with_fill_neutral(type, op, place.of(filled.all()).data(), bytes, run);
        ASSERT_TRUE(same_elements(type, place.of(filled.all()), right));
        HostMemory finished(place);
        right = random_elements(type, elements, random);
        std::ranges::copy(right, place.of(finished.all()).begin());
        for (const int workers : {1, 3, 8}) {
          finish(type, op, workers, right);
          cuda::with_finish(type, op, workers, place.of(finished.all()).data(), bytes, run);
          ASSERT_TRUE(same_elements(type, place.of(finished.all()), right)) << workers;
        }
        ASSERT_TRUE(place.guarded(filled.all()) && place.guarded(finished.all()));
      }
  });
}

TEST(CudaReductions, KeepTheRestAsTheHostDoes) {
  std::mt19937_64 random(std::random_device{}());
  for (const std::size_t elements : kCounts)
    for (const auto& [whole_off, part_off] : kOffsets) {
      const Placed whole_place{whole_off * sizeof(float), elements * sizeof(float)};
      const Placed part_place{part_off * sizeof(float), elements * sizeof(float)};
      HostMemory whole(whole_place);
      HostMemory part(part_place);
      const std::vector<std::byte> given = random_elements(DataType::float32, elements, random);
      std::vector<std::byte> right = random_elements(DataType::float32, elements, random);
      std::ranges::copy(given, whole_place.of(whole.all()).begin());
      std::ranges::copy(right, part_place.of(part.all()).begin());
      keep_rest(as_floats(std::as_bytes(std::span(given))), as_floats(std::span(right)));
      cuda::with_keep_rest(whole_place.of(whole.all()).data(), part_place.of(part.all()).data(), right.size(),
                           [](const auto& work, const cuda::Extent& extent) { run_on_host(work, extent, 3); });
      ASSERT_TRUE(std::ranges::equal(part_place.of(part.all()), right)) << whole_off << ", " << part_off;
      ASSERT_TRUE(whole_place.guarded(whole.all()) && part_place.guarded(part.all()));
    }
}

TEST(CudaReductions, ChangeNumbersAsTheHostDoes) {
  std::mt19937_64 random(std::random_device{}());
  for (const NumbersChange::Kind kind : kChanges)
    for (const std::size_t elements : kCounts)
      for (const auto& [a_off, x_off] : kOffsets) {
        const Placed a_place{a_off * sizeof(float), elements * sizeof(float)};
        const Placed x_place{x_off * sizeof(float), elements * sizeof(float)};
        HostMemory a(a_place), b(a_place), x(x_place);
        std::vector<std::byte> right = random_elements(DataType::float32, elements, random);
        std::ranges::copy(random_elements(DataType::float32, elements, random), a_place.of(a.all()).begin());
        std::ranges::copy(random_elements(DataType::float32, elements, random), a_place.of(b.all()).begin());
        std::ranges::copy(right, x_place.of(x.all()).begin());
        const NumbersChange by{.kind = kind,
                               .factor = 0.3F,
                               .a = as_floats(std::as_bytes(a_place.of(a.all()))),
                               .b = as_floats(std::as_bytes(a_place.of(b.all()))),
                               .root = 0.7F,
                               .epsilon = 1e-3F};
        change(by, as_floats(std::span(right)));
        cuda::with_change(by, as_floats(x_place.of(x.all())),
                          [](const auto& work, const cuda::Extent& extent) { run_on_host(work, extent, 3); });
        ASSERT_TRUE(same_elements(DataType::float32, x_place.of(x.all()), right)) << a_off << ", " << x_off;
        ASSERT_TRUE(a_place.guarded(a.all()) && a_place.guarded(b.all()) && x_place.guarded(x.all()));
      }
}

// Elements at odd addresses have no wide accesses, and are right all the same.
TEST(CudaReductions, AccumulateElementsAtAnyAddress) {
  std::mt19937_64 random(std::random_device{}());
  for (const DataTypeEntry* type : data_types()) {
    constexpr std::size_t kElements = 77;
    const Placed in_place{1, kElements * type->size};
    const Placed inout_place{7, kElements * type->size};
    HostMemory in(in_place);
    HostMemory inout(inout_place);
    const std::vector<std::byte> given = random_elements(type->type, kElements, random);
    std::vector<std::byte> right = random_elements(type->type, kElements, random);
    std::ranges::copy(given, in_place.of(in.all()).begin());
    std::ranges::copy(right, inout_place.of(inout.all()).begin());
    accumulate(type->type, ReduceOp::sum, given, right);
    cuda::with_accumulate(type->type, ReduceOp::sum, in_place.of(in.all()).data(), inout_place.of(inout.all()).data(),
                          kElements * type->size,
                          [](const auto& work, const cuda::Extent& extent) { run_on_host(work, extent, 1); });
    ASSERT_TRUE(same_elements(type->type, inout_place.of(inout.all()), right)) << type->name;
  }
}

/// Counts the accesses of each element, wide and single.
struct Counting {
  static constexpr int kGroup = 4;
  template <int kCount>
  struct Taken {};
  int* touched;
  std::size_t* wide;

  template <int kCount>
  Taken<kCount> take(std::size_t) const {
    return {};
  }
  template <int kCount>
  void give(std::size_t element, Taken<kCount>) const {
    for (int i = 0; i < kCount; ++i) ++touched[element + static_cast<std::size_t>(i)];
    if (kCount > 1) ++*wide;
  }
};

TEST(CudaWalk, TouchesEveryElementOnceWhateverTheGrid) {
  for (const std::size_t elements : kCounts)
    for (const std::size_t head : {0, 3})
      for (const std::size_t blocks : {1, 2, 5, 40}) {
        std::vector<int> touched(elements);
        std::size_t wide = 0;
        const cuda::Extent extent{elements, std::min(head, elements), elements < head ? 0 : (elements - head) / 4};
        run_on_host(Counting{touched.data(), &wide}, extent, blocks);
        ASSERT_EQ(touched, std::vector<int>(elements, 1)) << elements << " from " << head;
        ASSERT_EQ(wide, extent.groups);
      }
}

TEST(CudaWalk, GroupsBeginWhereEveryBufferIsAligned) {
  alignas(256) static std::byte memory[512];
  const auto extent = [](std::size_t first, std::size_t second, std::size_t elements) {
    const cuda::Side sides[] = {{memory + first, 4}, {memory + second, 4}};
    return cuda::extent_of(elements, 4, sides);
  };
  EXPECT_EQ(extent(0, 16, 100).head, 0U);
  EXPECT_EQ(extent(0, 16, 100).groups, 25U);
  EXPECT_EQ(extent(4, 20, 100).head, 3U);  // three floats up to the next 16 bytes, then 97 / 4
  EXPECT_EQ(extent(4, 20, 100).groups, 24U);
  EXPECT_EQ(extent(0, 4, 100).groups, 0U);
  EXPECT_EQ(extent(1, 1, 100).groups, 0U);
  EXPECT_EQ(extent(4, 4, 2).groups, 0U);
}

}  // namespace
}  // namespace hbench::cuda_elements_test
