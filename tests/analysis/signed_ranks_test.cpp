#include "analysis/statistics/rank_test.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <vector>

namespace hbench::signed_ranks_test {
namespace {

using Values = std::vector<double>;

// All of one sign is 1 of 2^n choices of signs; the mirror image counts as well.
TEST(SignedRank, GivesTheExactPOfDifferencesOfOneSign) {
  EXPECT_DOUBLE_EQ(signed_rank_test(Values{1, 2, 3}), 2.0 / 8);
  EXPECT_DOUBLE_EQ(signed_rank_test(Values{-4, -1, -3, -2}), 2.0 / 16);
  EXPECT_DOUBLE_EQ(signed_rank_test(Values(12, 0.5)), 2.0 / 4096);
}

// -1 beside 2, 3 and 4: the positive ranks sum to 9 of 10. Sums of 0, 1, 9 and 10 are one choice each of 16.
TEST(SignedRank, GivesTheExactPWhereSignsDiffer) {
  EXPECT_DOUBLE_EQ(signed_rank_test(Values{-1, 2, 3, 4}), 4.0 / 16);
  // -4 beside 1, 2 and 3: 6 of 10, so sums up to 4 and from 6 on: {} 1 2 3 12 4 13, and as many above; 5 is 23 and 14.
  EXPECT_DOUBLE_EQ(signed_rank_test(Values{1, 2, 3, -4}), 14.0 / 16);
}

// The table of the test (Hollander, Wolfe & Chicken, A.4): of 12 differences P(T >= 64) = P(T <= 14) is 0.026, and of
// 10 P(T >= 47) = P(T <= 8) is 0.024. Ranks 2 and 12 sum to 14, ranks 1, 3 and 4 to 8.
TEST(SignedRank, AgreesWithTheTableOfTheLiterature) {
  EXPECT_NEAR(signed_rank_test(Values{1, -2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -12}), 2 * 0.026, 0.001);
  EXPECT_NEAR(signed_rank_test(Values{-1, 2, -3, -4, 5, 6, 7, 8, 9, 10}), 2 * 0.024, 0.001);
}

// Sizes 1 1 2: ranks 1.5, 1.5 and 3. Of the eight sums 0 1.5 1.5 3 3 4.5 4.5 6 two are as far from 3 as 6 is, and six
// as far as 4.5.
TEST(SignedRank, SharesTheRanksOfEqualSizes) {
  EXPECT_DOUBLE_EQ(signed_rank_test(Values{1, 1, 2}), 2.0 / 8);
  EXPECT_DOUBLE_EQ(signed_rank_test(Values{-1, 1, 2}), 6.0 / 8);
}

// Pratt: 0 has rank 1, so that 1, 2 and 3 have ranks 2, 3 and 4. With -1 their sum is 7 of 9; of the eight sums 0 2 3 4
// 5 6 7 9 four are at least 2.5 from 4.5. Without ranks for zeros it would be 4 of 8 too, but not with two of them.
TEST(SignedRank, LetsZerosKeepTheirRanksAndCountForNeitherSide) {
  EXPECT_DOUBLE_EQ(signed_rank_test(Values{0, -1, 2, 3}), 4.0 / 8);
  // Ranks 4 to 7 after three zeros: -3 and -4 are 6 and 7 of 22, so 4 + 5 = 9 is 2 from 11. Sums: 0 4 5 6 7 9 10 11 11
  // 12 13 15 16 17 18 22, of which three (10, 11, 11) and 12 are nearer. Without zeros' ranks it were 3 of 10, with 10
  // of 16 as far.
  EXPECT_DOUBLE_EQ(signed_rank_test(Values{0, 0, 0, 1, 2, -3, -4}), 12.0 / 16);
  EXPECT_EQ(signed_rank_test(Values(9, 0.0)), 1);
  EXPECT_EQ(signed_rank_test(Values{}), 1);
}

// Means of pairs of 1, 2 and 6: 1 1.5 2 3.5 4 6.
TEST(MiddleDifference, IsTheMedianOfTheMeansOfPairs) {
  EXPECT_DOUBLE_EQ(middle_difference(Values{6, 1, 2}), 2.75);
  EXPECT_DOUBLE_EQ(middle_difference(Values{3}), 3);
}

TEST(MiddleDifference, IsNotMovedByOneOutlier) {
  EXPECT_DOUBLE_EQ(middle_difference(Values{1, 1, 1, 1, 1, 1, 900}), 1);
}

// Of 7 differences P(T <= 2) = 3 / 128 and P(T <= 3) = 5 / 128: two averages lie outside of 95 % on either side. Of
// powers of 4 the smallest averages are those of the first with itself, and with the second and the third.
TEST(DifferenceInterval, LeavesOutAsManyAveragesAsTheTestRejects) {
  const Values differences{1, 4, 16, 64, 256, 1024, 4096};
  const Interval interval = difference_interval(differences, 0.95);
  EXPECT_DOUBLE_EQ(interval.low, 4);      // after 1 and 2.5
  EXPECT_DOUBLE_EQ(interval.high, 2176);  // before 4096 and 2560
  EXPECT_DOUBLE_EQ(difference_interval(differences, 0.92).low, 8.5);
}

TEST(DifferenceInterval, OfTooFewDifferencesIsTheirRange) {
  EXPECT_EQ(difference_interval(Values{3}, 0.95), (Interval{3, 3}));
  EXPECT_EQ(difference_interval(Values{5, 1, 2}, 0.95), (Interval{1, 5}));
}

// 2000 times twelve differences about 0.3: 13 averages outside on either side hold 95.75 %.
TEST(DifferenceInterval, HoldsTheMiddleAsOftenAsItSays) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0.3, 1);
  int held = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    Values differences(12);
    for (double& difference : differences) difference = noise(random);
    const Interval interval = difference_interval(differences, 0.95);
    held += interval.low <= 0.3 && 0.3 <= interval.high ? 1 : 0;
  }
  EXPECT_NEAR(held, 2000 * 0.9575, 4 * std::sqrt(2000 * 0.9575 * 0.0425));
}

}  // namespace
}  // namespace hbench::signed_ranks_test
