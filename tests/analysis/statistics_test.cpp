#include "analysis/statistics/statistics.hpp"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace hbench::statistics_test
