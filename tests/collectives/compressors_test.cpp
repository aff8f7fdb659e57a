#include "collectives/compressors/compressor.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "collectives/base/table.hpp"
#include "collectives/compressors/half.hpp"

namespace hbench {
namespace {

using ::testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<CompressorChoice> every_compressor() {
  std::vector<CompressorChoice> all;
  for (const Compressor* compressor : compressors()) all.push_back(parse_compressor(compressor->name));
  return all;
}

std::vector<std::byte> encoded(const CompressorChoice& compressor, std::span<const float> values) {
  std::vector<std::byte> wire(static_cast<std::size_t>(compressor.codec->max_wire_bytes(std::ssize(values))));
  compressor.codec->encode(values, {}, wire);
  return wire;
}

std::vector<float> round_trip(const CompressorChoice& compressor, std::span<const float> values) {
  std::vector<float> back(values.size(), -77.0F);
  compressor.codec->decode(encoded(compressor, values), TransferKind::copy, back);
  return back;
}

/// Bit patterns from all over the range, NaN and subnormals included.
std::vector<float> random_patterns(std::size_t count) {
  std::mt19937 random(7);
  std::vector<float> values(count);
  for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  return values;
}

std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

/// Random normal numbers in a half's normal range.
std::vector<float> normal_values(std::size_t count) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> exponent(-13.9F, 15.9F);
  std::vector<float> values(count);
  for (float& value : values) value = (random() % 2 == 0 ? 1.0F : -1.0F) * std::exp2(exponent(random));
  return values;
}

TEST(EveryCompressor, KeepsItsDeclaredError) {
  for (const CompressorChoice& compressor : every_compressor()) {
    const std::vector<float> values = normal_values(10007);
    const std::vector<float> back = round_trip(compressor, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_LE(std::abs(back[i] - values[i]), compressor.compressor->relative_error * std::abs(values[i]))
          << compressor.text();
    }
  }
}

TEST(EveryCompressor, TakesEmptyAndSingleElementBuffers) {
  for (const CompressorChoice& compressor : every_compressor()) {
    EXPECT_EQ(compressor.codec->max_wire_bytes(0), 0) << compressor.text();
    EXPECT_THAT(round_trip(compressor, std::vector<float>{}), ElementsAre()) << compressor.text();
    EXPECT_THAT(round_trip(compressor, std::vector<float>{-2.5F}), ElementsAre(-2.5F)) << compressor.text();
  }
}

TEST(EveryCompressor, AddsWhenItDecodesAReduce) {
  std::vector<float> values(37);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  for (const CompressorChoice& compressor : every_compressor()) {
    std::vector<float> sum(values.size(), 100.0F);
    compressor.codec->decode(encoded(compressor, values), TransferKind::reduce, sum);
    for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_EQ(sum[i], 100.0F + values[i]) << compressor.text();
  }
}

TEST(EveryCompressor, EncodesWhatItDecodedToTheSameBytes) {
  const std::vector<float> values = random_patterns(4099);
  for (const CompressorChoice& compressor : every_compressor()) {
    EXPECT_EQ(encoded(compressor, round_trip(compressor, values)), encoded(compressor, values)) << compressor.text();
  }
}

TEST(EveryCompressor, KeepsInfinitiesNanAndTheSignOfZero) {
  for (const CompressorChoice& compressor : every_compressor()) {
    const std::vector<float> back =
        round_trip(compressor, std::vector<float>{kInfinity, -kInfinity, std::nanf(""), 0.0F, -0.0F});
    EXPECT_EQ(back[0], kInfinity);
    EXPECT_EQ(back[1], -kInfinity);
    EXPECT_TRUE(std::isnan(back[2]));
    EXPECT_FALSE(std::signbit(back[3]));
    EXPECT_TRUE(std::signbit(back[4]));
  }
}

TEST(EveryCompressor, WritesExactlyItsWireBytes) {
  const std::vector<float> values(13, 1.0F);
  for (const CompressorChoice& compressor : every_compressor()) {
    const auto size = static_cast<std::size_t>(compressor.codec->max_wire_bytes(13));
    std::vector<std::byte> wire(size + 8, std::byte{0xab});
    compressor.codec->encode(values, {}, std::span(wire).first(size));
    for (std::size_t i = size; i < wire.size(); ++i) EXPECT_EQ(wire[i], std::byte{0xab}) << compressor.text();
  }
}

/// What F16C and Python's struct module give for the same floats.
TEST(Fp16, RoundsToNearestEvenAndOverflowsToInfinity) {
  const CompressorChoice fp16 = parse_compressor("fp16");
  const std::vector<float> values{1.0F + 0x1p-11F,  // a tie: down to even
                                  1.0F + 0x3p-11F,  // a tie: up to even
                                  1.0F + 0x1p-11F + 0x1p-20F,
                                  65504.0F,
                                  65519.996F,
                                  65520.0F,
                                  -1e30F,
                                  0x1p-14F,
                                  0x1p-24F,             // the smallest subnormal
                                  0x1p-25F,             // a tie: to zero
                                  0x1p-25F + 0x1p-40F,  // just above it
                                  -0x3p-25F,            // a tie: to the even 2
                                  1023.75F * 0x1p-24F,  // rounds up into the normals
                                  1e-30F};
  EXPECT_THAT(round_trip(fp16, values),
              ElementsAre(1.0F, 1.0F + 0x1p-9F, 1.0F + 0x1p-10F, 65504.0F, 65504.0F, kInfinity, -kInfinity, 0x1p-14F,
                          0x1p-24F, 0.0F, 0x1p-24F, -0x1p-23F, 0x1p-14F, 0.0F));
}

TEST(PortableHalves, WidenAndNarrowEveryHalfBackToItself) {
  for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
    const auto half = static_cast<std::uint16_t>(pattern);
    float wide = 0;
    std::uint16_t back = 0;
    kPortableHalves.widen(std::as_bytes(std::span(&half, 1)), {&wide, 1});
    kPortableHalves.narrow({&wide, 1}, std::as_writable_bytes(std::span(&back, 1)));
    const bool nan = (half & 0x7fff) > 0x7c00;
    ASSERT_EQ(back, nan ? (half | 0x0200) : half);
    if (!nan && (half & 0x7fff) != 0x7c00) {
      const int exponent = (half >> 10) & 31;
      const int digits = (half & 0x3ff) + (exponent == 0 ? 0 : 0x400);
      const float magnitude = std::ldexp(static_cast<float>(digits), std::max(exponent, 1) - 25);
      ASSERT_EQ(wide, (half & 0x8000) != 0 ? -magnitude : magnitude);
    }
  }
}

class FastHalves : public ::testing::Test {
 protected:
  void SetUp() override {
    if (fast_halves() == nullptr) GTEST_SKIP() << "this processor has no F16C: there is only the portable path";
  }
};

TEST_F(FastHalves, WidenEveryHalfAsThePortableOnesDo) {
  std::vector<std::uint16_t> halves(65536 + 5);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  std::vector<float> fast(halves.size());
  std::vector<float> portable(halves.size());
  fast_halves()->widen(std::as_bytes(std::span(halves)), fast);
  kPortableHalves.widen(std::as_bytes(std::span(halves)), portable);
  EXPECT_EQ(bits_of(fast), bits_of(portable));
}

TEST_F(FastHalves, AddFiniteHalvesAsThePortableOnesDo) {
  std::vector<std::uint16_t> halves(65536 + 3);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i & ~0x4000U);
  std::vector<float> fast = normal_values(halves.size());
  std::vector<float> portable = fast;
  fast_halves()->widen_and_add(std::as_bytes(std::span(halves)), fast);
  kPortableHalves.widen_and_add(std::as_bytes(std::span(halves)), portable);
  EXPECT_EQ(bits_of(fast), bits_of(portable));
}

TEST_F(FastHalves, NarrowAsThePortableOnesDo) {
  std::vector<float> values = random_patterns(1U << 20);
  // Every half, and its neighbourhood of ties: where rounding could go wrong.
  for (std::uint32_t half = 0; half < 65536; ++half) {
    const auto pattern = static_cast<std::uint16_t>(half);
    float wide = 0;
    kPortableHalves.widen(std::as_bytes(std::span(&pattern, 1)), {&wide, 1});
    const auto bits = std::bit_cast<std::uint32_t>(wide);
    for (const std::uint32_t offset : {0U, 0xfffU, 0x1000U, 0x1001U})
      values.push_back(std::bit_cast<float>(bits + offset));
  }
  values.push_back(1.0F);
  std::vector<std::byte> fast(2 * values.size());
  std::vector<std::byte> portable(2 * values.size());
  fast_halves()->narrow(values, fast);
  kPortableHalves.narrow(values, portable);
  EXPECT_EQ(fast, portable);
}

}  // namespace
}  // namespace hbench
