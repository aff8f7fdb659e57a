// Signs, their sums, and the two compressors that are made of them.

#include "collectives/compressors/signs.hpp"

#include <limits>

#include "tests/collectives/codecs.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::signs_test {
namespace {

using namespace ::hbench::support;

constexpr float kLargest = std::numeric_limits<float>::max();

/// Around vectors, rows of partial sums and pieces of them.
constexpr std::size_t kSizes[] = {0, 1, 7, 8, 15, 16, 17, 33, 4095, 4096, 4097, 10'007};

TEST(SignedSums, AreThoseOfPlainAddition) {
  for (const std::size_t size : kSizes) {
    const std::vector<float> values = gaussian(size);
    double positive = 0, negative = 0;
    std::int64_t negatives = 0;
    for (const float x : values) {
      (x < 0 ? negative : positive) += static_cast<double>(x);
      negatives += x < 0 ? 1 : 0;
    }
    support::on_every_target([&](const std::string& target) {
      const SignedSums sums = signed_sums(values);
      // A partial sum has at most 256 elements of float32: 256 half units of 2^-24, relative.
      EXPECT_NEAR(sums.positive, positive, positive * 0x1p-16) << target << ' ' << size;
      EXPECT_NEAR(sums.negative, negative, -negative * 0x1p-16) << target << ' ' << size;
      EXPECT_EQ(sums.negatives, negatives) << target << ' ' << size;
    });
  }
}

TEST(SignedSums, CountTheMinusOfZeroAndOfNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(signed_sums(std::vector{-0.0F, 0.0F, -nan, nan, -1.0F}).negatives, 3);
}

TEST(SignedSums, HoldWhatFloatsCannot) {
  std::vector<float> values(1000, kLargest);
  values[7] = -kLargest;
  const SignedSums sums = signed_sums(values);
  EXPECT_EQ(sums.positive, 999 * static_cast<double>(kLargest));
  EXPECT_EQ(sums.negative, -static_cast<double>(kLargest));
}

TEST(Sign, GivesTheMeanMagnitudeItsSigns) {
  const auto codec = parse_compressor("sign").codec;
  EXPECT_THAT(round_trip(*codec, std::vector{1.0F, -2.0F, 6.0F}), ElementsAre(3, -3, 3));  // (1 + 2 + 6) / 3
  EXPECT_THAT(round_trip(*codec, std::vector(1000, kLargest)), Each(kLargest));
}

TEST(OneBit, GivesEachSignItsOwnMean) {
  const auto codec = parse_compressor("onebit").codec;
  // (1 + 6 + 2) / 3 and -8 / 2; a zero has a plus
  EXPECT_THAT(round_trip(*codec, std::vector{1.0F, -2.0F, 6.0F, -6.0F, 2.0F}), ElementsAre(3, -4, 3, -4, 3));
  EXPECT_THAT(round_trip(*codec, std::vector{0.0F, 4.0F}), ElementsAre(2, 2));
  EXPECT_THAT(round_trip(*codec, std::vector(5000, -kLargest)), Each(-kLargest));
}

TEST(OneBit, GivesEveryBlockMeansOfItsOwn) {
  constexpr std::size_t kBlock = 2048;
  std::vector<float> values(2 * kBlock + 3, 1.0F);
  for (std::size_t i = kBlock; i < values.size(); ++i) values[i] = i < 2 * kBlock ? -5.0F : 7.0F;
  const CompressorChoice choice = parse_compressor("onebit");
  EXPECT_EQ(round_trip(*choice.codec, values), values);
  // Three blocks: two means of 4 bytes each, and a bit per element.
  EXPECT_EQ(choice.codec->max_wire_bytes(std::ssize(values)), 3 * 8 + 2 * 256 + 1);
}

TEST(OneBit, KeepsTheSumOfABlock) {
  const std::vector<float> values = gaussian(2048, 3, 0.25F);
  double before = 0, after = 0;
  for (const float x : values) before += static_cast<double>(x);
  for (const float x : round_trip(*parse_compressor("onebit").codec, values)) after += static_cast<double>(x);
  EXPECT_NEAR(after, before, 2048 * 0x1p-20);  // of means near 1, as float32
}

TEST(OneBit, OfOneSignLeavesTheOtherFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> back = round_trip(*parse_compressor("onebit").codec, std::vector{1.0F, infinity, -2.0F});
  EXPECT_THAT(back, ElementsAre(infinity, infinity, -2.0F));
}

}  // namespace
}  // namespace hbench::signs_test
