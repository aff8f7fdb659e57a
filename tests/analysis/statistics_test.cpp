#include "analysis/statistics.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "analysis/random.hpp"

namespace hbench {
namespace {

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 3, 100}), 3.5);
}

TEST(Percentile, IsLinearBetweenNeighbours) {
  const std::vector<double> values{50, 10, 30, 20, 40};
  EXPECT_EQ(percentile(values, 0), 10);
  EXPECT_EQ(percentile(values, 0.25), 20);
  EXPECT_DOUBLE_EQ(percentile(values, 0.9), 46);
  EXPECT_EQ(percentile(values, 1), 50);
}

TEST(MedianOfLaunches, WeighsLaunchesAlikeHoweverLongTheyRan) {
  EXPECT_EQ(median_of_launches({{1, 1, 1, 1, 1, 1, 1}, {2, 3, 4}, {9}}), 3);
}

// The first outputs of SplitMix64 for seed 1234567, as in the test vectors that accompany the algorithm.
TEST(Random, GivesTheSequenceOfSplitMix64) {
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(Random, DrawsEveryIndexAboutEquallyOften) {
  Random random(1);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts.at(random.below(7));
  // 5 standard deviations of a binomial count: 5 * sqrt(70000 * 1/7 * 6/7) = 463.
  for (int count : counts) EXPECT_NEAR(count, 10000, 463);
}

TEST(Bootstrap, GivesTheSameIntervalForTheSameSeedOnly) {
  const Launches launches{{1.0, 1.2, 1.1, 1.4}, {1.3, 1.5, 1.25}, {0.9, 1.05, 1.15}};
  EXPECT_EQ(median_interval(launches), median_interval(launches));
  EXPECT_NE(median_interval(launches, {.draws = 50}), median_interval(launches, {.draws = 50, .seed = 7}));
}

TEST(Bootstrap, GivesNoWidthToValuesThatDoNotVary) {
  EXPECT_EQ(median_interval({{2, 2, 2}, {2, 2}}), (Interval{2, 2}));
  EXPECT_EQ(ratio_interval({{3, 3}}, {{2, 2}}), (Interval{1.5, 1.5}));
}

// Two launches of constant values: a drawn median is 1 (both the first, 1/4), 2 (one of each) or 3.
// 2.5 % and 97.5 % of the draws therefore lie at the ends.
TEST(Bootstrap, DrawsLaunchesAndNotOnlyIterations) {
  EXPECT_EQ(median_interval({Launch(1000, 1.0), Launch(1000, 3.0)}), (Interval{1, 3}));
}

TEST(Bootstrap, RedrawsTheBaselineToo) {
  const Launches varied{{1, 3}, {2, 4}, {1, 4}};
  const Interval above = ratio_interval(varied, {{2, 2}});
  const Interval below = ratio_interval({{2, 2}}, varied);
  EXPECT_LT(above.low, above.high);
  EXPECT_LT(below.low, below.high);
}

// Repeated experiments with launches from a known distribution: the interval must hold the true median in
// most of them. Few launches make a percentile interval too narrow, hence 88 % instead of 95 %.
TEST(Bootstrap, MostlyHoldsTheTruth) {
  Random random(20);
  const auto near = [&](double middle, double width) {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.below(1 << 20)) / (1 << 20) - 0.5;
    return middle + width * sum;  // nearly normal: the sum of 12 uniforms has variance 1
  };
  int held = 0;
  for (int experiment = 0; experiment < 100; ++experiment) {
    Launches launches(10);
    for (Launch& launch : launches) {
      const double luck = near(1, 0.02);
      for (int i = 0; i < 10; ++i) launch.push_back(near(luck, 0.03));
    }
    const Interval interval = median_interval(launches, {.draws = 300});
    held += interval.low <= 1 && 1 <= interval.high;
  }
  EXPECT_GE(held, 88);
}

}  // namespace
}  // namespace hbench
