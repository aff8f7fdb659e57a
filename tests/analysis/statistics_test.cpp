#include "analysis/statistics/statistics.hpp"

#include <gmock/gmock.h>

#include <numeric>

namespace hbench::statistics_test {
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

TEST(ErrorSizes, CountErrorsOfEitherSignAlike) {
  const ErrorSizes sizes = error_sizes({0.5, -4, 1, -0.5});
  EXPECT_EQ(sizes.mean, 1.5);
  EXPECT_EQ(sizes.median, 0.75);
  EXPECT_EQ(sizes.largest, 4);
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
  const Launch above{1.0, 1.2, 1.1, 1.4}, below{1.3, 1.5, 1.25};
  EXPECT_EQ(bootstrap_ratio(above, below), bootstrap_ratio(above, below));
  EXPECT_NE(bootstrap_ratio(above, below, {.draws = 50}), bootstrap_ratio(above, below, {.draws = 50, .seed = 7}));
}

TEST(Bootstrap, GivesNoWidthToValuesThatDoNotVary) { EXPECT_EQ(bootstrap_ratio({3, 3}, {2, 2}), (Interval{1.5, 1.5})); }

// The median of two drawn values is 1 (the first twice, 1/4), 2 or 3 (1/4), over a constant: 2.5 % and 97.5 % of the
// draws lie at the ends. Of ten values five draws of one are needed for either end, which is rarer.
TEST(Bootstrap, EndsWhereFortiethsOfTheDrawsLie) {
  EXPECT_EQ(bootstrap_ratio({1, 3}, {2}), (Interval{0.5, 1.5}));
  const Interval ten = bootstrap_ratio({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {1});
  EXPECT_GT(ten.low, 1.5);
  EXPECT_LT(ten.high, 9.5);
}

TEST(Bootstrap, RedrawsBothSides) {
  const Launch varied{1, 3, 2, 4, 1.5};
  const Interval above = bootstrap_ratio(varied, {2, 2});
  const Interval below = bootstrap_ratio({2, 2}, varied);
  EXPECT_LT(above.low, above.high);
  EXPECT_LT(below.low, below.high);
}

}  // namespace
}  // namespace hbench::statistics_test
