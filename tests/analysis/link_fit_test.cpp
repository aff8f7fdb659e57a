#include "analysis/fit/machine_profile.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "collectives/base/error.hpp"

namespace hbench::link_fit_test {
namespace {

constexpr double kLatency = 4e-6, kRate = 8e9;

/// 1 KiB to 64 MiB, doubling: 17 sizes, of which 9 are fitted and 8 are not.
std::vector<TimedSize> exact(int ranks) {
  std::vector<TimedSize> timed;
  for (std::int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 2)
    timed.push_back({bytes, 2.0 * (ranks - 1) * (kLatency + static_cast<double>(bytes) / ranks / kRate)});
  return timed;
}

TEST(LinkFit, OfExactTimesIsTheirLatencyAndRate) {
  for (const int ranks : {2, 3, 8}) {
    const LinkFit link = fit_link(exact(ranks), ranks);
    EXPECT_NEAR(link.latency.value, kLatency, 1e-9 * kLatency) << ranks;
    EXPECT_NEAR(link.rate.value, kRate, 1e-9 * kRate) << ranks;
    EXPECT_EQ(link.unseen, 8u);
    EXPECT_LT(link.largest_error, 1e-9);
  }
}

TEST(LinkFit, IsTheSameInWhateverOrderTheSizesCome) {
  std::vector<TimedSize> backwards = exact(4);
  std::ranges::reverse(backwards);
  EXPECT_EQ(fit_link(backwards, 4).rate.value, fit_link(exact(4), 4).rate.value);
}

TEST(LinkFit, OfNoisyTimesIsNearAndSaysHowFarItIsFromWhatItHasNotSeen) {
  // 5 % up and down in turn, in pairs, so that the fitted sizes see both signs, and the others too.
  std::vector<TimedSize> timed = exact(2);
  for (std::size_t i = 0; i < timed.size(); ++i) timed[i].seconds *= i / 2 % 2 == 0 ? 1.05 : 0.95;
  const LinkFit link = fit_link(timed, 2);
  EXPECT_NEAR(link.latency.value, kLatency, 0.05 * kLatency);
  EXPECT_NEAR(link.rate.value, kRate, 0.05 * kRate);
  // A fit within 5 % of the line is at most 1.05 / 0.95 - 1 = 10.5 % from such times; 1 / 0.95 - 1 = 5.3 % if exact.
  EXPECT_GT(link.mean_error, 0.03);
  EXPECT_LT(link.largest_error, 0.106);
}

TEST(LinkFit, OfACurveThatIsNoLineIsALargeErrorAndNotHidden) {
  // Ten times as slow from 1 MiB: out of a cache, say.
  std::vector<TimedSize> timed = exact(2);
  for (TimedSize& each : timed)
    if (each.bytes >= 1 << 20) each.seconds *= 10;
  const LinkFit link = fit_link(timed, 2);
  // A line within a third of the times on both sides of the step would have to rise tenfold in one doubling.
  EXPECT_GT(link.mean_error, 0.3);
  EXPECT_GT(link.largest_error, 0.5);
}

TEST(LinkFit, HasNoNegativeLatency) {
  // Quadratic times: the best line cuts the axis below 0.
  std::vector<TimedSize> timed;
  for (const double bytes : {1e3, 2e3, 3e3, 4e3, 5e3}) timed.push_back({static_cast<int>(bytes), bytes * bytes});
  const LinkFit link = fit_link(timed, 2);
  EXPECT_EQ(link.latency.value, 0);
  // Through the origin: slope = sum(S/t) / sum(S^2/t^2) over S = 1, 3, 5 thousand, t = S^2:
  // (1 + 1/3 + 1/5) / (1 + 1/9 + 1/25) x 1000 = 1332.05; rate = 2(N-1)/N / slope = 1 / slope.
  EXPECT_NEAR(link.rate.value, 1 / 1332.05, 1e-8);
}

TEST(LinkFit, ErrorsAreThoseOfTheSizesBetween) {
  // One unseen size takes half as long again: the line says 1/1.5 of it, which is 1/3 too little; of 8 sizes.
  std::vector<TimedSize> timed = exact(2);
  timed[5].seconds *= 1.5;
  const LinkFit link = fit_link(timed, 2);
  EXPECT_NEAR(link.largest_error, 1.0 / 3, 1e-9);
  EXPECT_NEAR(link.mean_error, 1.0 / 3 / 8, 1e-9);
}

ExitCode code_of(std::vector<TimedSize> timed) {
  try {
    fit_link(std::move(timed), 2);
  } catch (const Error& error) {
    return error.code();
  }
  return ExitCode::good;
}

TEST(LinkFit, RefusesTooFewSizesAndTimesThatAreNone) {
  std::vector<TimedSize> timed = exact(2);
  timed.resize(4);
  EXPECT_EQ(code_of(timed), ExitCode::good);
  timed.resize(3);
  EXPECT_EQ(code_of(timed), ExitCode::usage);
  EXPECT_EQ(code_of({}), ExitCode::usage);
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    timed = exact(2);
    timed[3].seconds = bad;
    EXPECT_EQ(code_of(timed), ExitCode::wrong_data) << bad;
  }
}

TEST(LinkFit, RefusesTimesThatShrinkAsTheSizeGrows) {
  std::vector<TimedSize> timed;
  for (int i = 1; i <= 6; ++i) timed.push_back({1000 * i, 1.0 - 0.1 * i});
  EXPECT_EQ(code_of(timed), ExitCode::wrong_data);
}

}  // namespace
}  // namespace hbench::link_fit_test
