// What CUDA kernels do, run on the host against the loops of the host: no GPU is needed.

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>

#include "collectives/arithmetic/half.hpp"
#include "collectives/cuda/elements.cuh"
#include "collectives/cuda/low_rank.cuh"
#include "tests/collectives/cuda_device.hpp"
#include "tests/collectives/cuda_twin_device.hpp"

namespace hbench::cuda_elements_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

INSTANTIATE_TEST_SUITE_P(Host, CudaReductions, ::testing::Values(make_twin_device));
INSTANTIATE_TEST_SUITE_P(Host, CudaCodecs, ::testing::Values(make_twin_device));
INSTANTIATE_TEST_SUITE_P(Host, CudaPacking, ::testing::Values(make_twin_device));
INSTANTIATE_TEST_SUITE_P(Host, CudaProducts, ::testing::Values(make_twin_device));

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

TEST(CudaElements, DropColumnsThatDependOnOthers) {
  EXPECT_EQ(cuda::stretch(1, 1e-6), 0);
  EXPECT_TRUE(std::isnan(cuda::stretch(1, std::nan(""))));
}

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
