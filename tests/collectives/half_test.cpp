#include "collectives/arithmetic/half.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "tests/collectives/codecs.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::half_test {
namespace {

using namespace ::hbench::support;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// Full vectors of every width, and a rest.
constexpr std::size_t kPatterns = 65536 + 5;

std::vector<std::uint16_t> every_half() {
  std::vector<std::uint16_t> halves(kPatterns);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  return halves;
}

std::vector<float> widened(const HalfConversion& conversion, const std::vector<std::uint16_t>& halves) {
  std::vector<float> floats(halves.size());
  conversion.widen(std::as_bytes(std::span(halves)), floats);
  return floats;
}

std::vector<std::uint16_t> narrowed(const HalfConversion& conversion, const std::vector<float>& floats) {
  std::vector<std::uint16_t> halves(floats.size());
  conversion.narrow(floats, std::as_writable_bytes(std::span(halves)));
  return halves;
}

/// What F16C and Python's struct module give for the same floats.
TEST(Float16, RoundsToNearestEvenAndOverflowsToInfinity) {
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
                                  1e-30F,
                                  -0.0F,
                                  2.5F};
  const std::vector<float> expected{1.0F,       1.0F + 0x1p-9F, 1.0F + 0x1p-10F, 65504.0F, 65504.0F, kInfinity,
                                    -kInfinity, 0x1p-14F,       0x1p-24F,        0.0F,     0x1p-24F, -0x1p-23F,
                                    0x1p-14F,   0.0F,           -0.0F,           2.5F};
  on_every_target([&](const std::string& target) {
    const HalfConversion& float16 = float16_conversion();
    EXPECT_EQ(bits_of(widened(float16, narrowed(float16, values))), bits_of(expected)) << target;
  });
}

TEST(Float16, WidensEveryHalfAndNarrowsItBack) {
  on_every_target([](const std::string& target) {
    const std::vector<std::uint16_t> halves = every_half();
    const std::vector<float> wide = widened(float16_conversion(), halves);
    const std::vector<std::uint16_t> back = narrowed(float16_conversion(), wide);
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const bool nan = (halves[i] & 0x7fff) > 0x7c00;
      ASSERT_EQ(std::isnan(wide[i]), nan) << target;
      ASSERT_EQ(back[i], nan ? (halves[i] | 0x0200) : halves[i]) << target;
      if (nan || (halves[i] & 0x7fff) == 0x7c00) continue;
      const int exponent = (halves[i] >> 10) & 31;
      const int digits = (halves[i] & 0x3ff) + (exponent == 0 ? 0 : 0x400);
      const float magnitude = std::ldexp(static_cast<float>(digits), std::max(exponent, 1) - 25);
      ASSERT_EQ(wide[i], (halves[i] & 0x8000) != 0 ? -magnitude : magnitude) << target;
    }
  });
}

/// Every half, and its neighbourhood of ties: where rounding could go wrong; and floats from all over the range.
std::vector<float> hard_to_narrow(const HalfConversion& conversion, std::uint32_t half_a_step) {
  std::vector<float> values = support::random_patterns(1 << 18);
  for (const float wide : widened(conversion, every_half()))
    for (const std::uint32_t offset : {0U, half_a_step - 1, half_a_step, half_a_step + 1})
      values.push_back(std::bit_cast<float>(std::bit_cast<std::uint32_t>(wide) + offset));
  return values;
}

TEST(Halves, AreTheSameWithEveryInstructionSet) {
  for (const auto conversion : {float16_conversion, bfloat16_conversion}) {
    const std::vector<float> values = hard_to_narrow(conversion(), conversion == float16_conversion ? 0x1000 : 0x8000);
    std::vector<std::vector<std::uint16_t>> narrow;
    std::vector<std::vector<std::uint32_t>> wide;
    std::vector<std::vector<std::uint32_t>> sums;
    on_every_target([&](const std::string&) {
      narrow.push_back(narrowed(conversion(), values));
      wide.push_back(bits_of(widened(conversion(), every_half())));
      std::vector<std::uint16_t> halves = every_half();
      for (std::uint16_t& half : halves) half &= 0xbfff;  // finite ones: which NaN a sum is, is open
      std::vector<float> sum = support::gaussian(halves.size());
      conversion().widen_and_add(std::as_bytes(std::span(halves)), sum);
      sums.push_back(bits_of(sum));
    });
    for (std::size_t i = 1; i < narrow.size(); ++i) {
      EXPECT_EQ(narrow[i], narrow[0]);
      EXPECT_EQ(wide[i], wide[0]);
      EXPECT_EQ(sums[i], sums[0]);
    }
  }
}

TEST(Bfloat16, RoundsToNearestEvenAndKeepsNan) {
  const std::vector<float> values{1.0F + 0x1p-8F,             // a tie: down to even
                                  1.0F + 0x3p-8F,             // a tie: up to even
                                  1.0F + 0x1p-8F + 0x1p-20F,  // just above it
                                  -3.0F,                      // exact
                                  0x1.fep127F,                // the largest
                                  0x1.ffp127F,                // halfway to 2^128
                                  -kInfinity,
                                  0x1p-133F,  // the smallest subnormal
                                  0x1p-134F,  // a tie: to zero
                                  -0.0F};
  const std::vector<float> expected{1.0F,      1.0F + 0x1p-6F, 1.0F + 0x1p-7F, -3.0F, 0x1.fep127F,
                                    kInfinity, -kInfinity,     0x1p-133F,      0.0F,  -0.0F};
  on_every_target([&](const std::string& target) {
    const HalfConversion& bfloat16 = bfloat16_conversion();
    EXPECT_EQ(bits_of(widened(bfloat16, narrowed(bfloat16, values))), bits_of(expected)) << target;
    const float nan = std::bit_cast<float>(0x7f80'0001);  // whose upper half alone is infinity
    EXPECT_THAT(narrowed(bfloat16, {nan, -nan}), ElementsAreArray({0x7fc0, 0xffc0})) << target;
  });
}

}  // namespace
}  // namespace hbench::half_test
