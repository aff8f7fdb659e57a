#include "analysis/statistics/rank_test.hpp"

#include <numeric>
#include <random>

#include "tests/support/matchers.hpp"

namespace hbench::rank_test_test {
namespace {

using Values = std::vector<double>;

// All of a below all of b is 1 of the C(n+m, n) orders; the mirror image counts as well.
TEST(RankTest, GivesTheExactPOfCompleteSeparation) {
  EXPECT_DOUBLE_EQ(rank_test(Values{1, 2, 3}, Values{4, 5, 6}), 2.0 / 20);
  EXPECT_DOUBLE_EQ(rank_test(Values{1, 2, 3, 4}, Values{5, 6, 7, 8}), 2.0 / 70);
  EXPECT_DOUBLE_EQ(rank_test(Values{5, 1, 4, 2, 3}, Values{9, 8, 7, 6, 10}), 2.0 / 252);
  EXPECT_DOUBLE_EQ(rank_test(Values{6, 7, 8, 9, 10}, Values{1, 2, 3, 4, 5}), 2.0 / 252);
}

// Ranks of a are 1, 2 and 4: sum 7. Of the 20 choices of three ranks of six, sums of 7 and less are 6 (1 2 3) and 7
// (1 2 4), and as many lie at 14 and 15 on the other side.
TEST(RankTest, GivesTheExactPOfAnOverlap) { EXPECT_DOUBLE_EQ(rank_test(Values{1, 2, 4}, Values{3, 5, 6}), 4.0 / 20); }

// Values 1 2 | 2 3: ranks 1, 2.5 and 2.5, 4. Of the six choices of two, the sum 3.5 of the smallest two and the 6.5 of
// the largest two each occur twice.
TEST(RankTest, SharesTheRanksOfEqualValues) {
  EXPECT_DOUBLE_EQ(rank_test(Values{1, 2}, Values{2, 3}), 4.0 / 6);
  EXPECT_DOUBLE_EQ(rank_test(Values{1, 1, 1}, Values{1, 1}), 1);
}

// 3 values beside 20: the least p is 2 of C(23, 3) = 1771 whichever side has fewer.
TEST(RankTest, IsTheSameWithItsSidesExchanged) {
  Values many(20);
  std::iota(many.begin(), many.end(), 1);
  EXPECT_DOUBLE_EQ(rank_test(Values{30, 31, 32}, many), 2.0 / 1771);
  EXPECT_DOUBLE_EQ(rank_test(many, Values{30, 31, 32}), 2.0 / 1771);
  EXPECT_DOUBLE_EQ(rank_test(Values{3.5, 31, 32}, many), rank_test(many, Values{3.5, 31, 32}));
}

// Of the 25 ratios of 5 values beside 5, P(U <= 2) = 4 / 252 and P(U <= 3) = 7 / 252. An interval from the third ratio
// to the third last one misses the shift where U is at most 2 on either side, 3.2 %; without these two it misses 5.6 %.
TEST(ShiftInterval, LeavesOutAsManyRatiosAsTheRankTestRejects) {
  const Values a{1, 2, 4, 8, 16}, b{32, 32 * 1.1, 32 * 1.2, 32 * 1.3, 32 * 1.4};
  Values ratios;
  for (const double below : a)
    for (const double above : b) ratios.push_back(above / below - 1);
  std::ranges::sort(ratios);
  const Interval interval = shift_interval(a, b, 0.95);
  EXPECT_NEAR(interval.low, ratios[2], 1e-12);
  EXPECT_NEAR(interval.high, ratios[22], 1e-12);
  EXPECT_NEAR(shift_interval(a, b, 0.94).low, ratios[3], 1e-12);
}

TEST(ShiftInterval, OfTooFewValuesIsTheirRange) {
  const Interval interval = shift_interval(Values{1, 2}, Values{4, 8}, 0.95);
  EXPECT_NEAR(interval.low, 1, 1e-12);
  EXPECT_NEAR(interval.high, 7, 1e-12);
  EXPECT_NEAR(shift_interval(Values{2}, Values{3}, 0.95).low, 0.5, 1e-12);
}

// The interval holds the shift as often as it says: of 6 and 15 values P(U <= 19) is 2.24 % on either side, so that it
// does in 95.51 % of 10,000 trials.
TEST(ShiftInterval, HoldsTheShiftAsOftenAsItSays) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> noise(0, 0.1);
  int held = 0;
  for (int trial = 0; trial < 10000; ++trial) {
    Values a(15), b(6);
    for (double& value : a) value = noise(random);
    for (double& value : b) value = 1.2 * noise(random);
    const Interval interval = shift_interval(a, b, 0.95);
    held += interval.low <= 0.2 && 0.2 <= interval.high ? 1 : 0;
  }
  EXPECT_NEAR(held, 9551, 4 * std::sqrt(10000 * 0.9551 * 0.0449));
}

TEST(RankTest, CannotTellAnythingWithoutValues) {
  EXPECT_EQ(rank_test(Values{}, Values{1}), 1);
  EXPECT_EQ(rank_test(Values{1}, Values{}), 1);
}

TEST(RankTest, IsCalledSignificantAsOftenAsItSaysWhereThereIsNoDifference) {
  std::mt19937 random(11);
  std::normal_distribution<double> value(100, 3);
  int significant = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    Values a(5), b(5);
    for (double& x : a) x = value(random);
    for (double& x : b) x = value(random);
    significant += rank_test(a, b) < 0.05 ? 1 : 0;
  }
  // The exact test of 5 against 5 rejects at p = 8/252 (U = 0, 1 and 2: 1 + 1 + 2 orders on either side).
  const double share = static_cast<double>(significant) / kTrials;
  EXPECT_NEAR(share, 8.0 / 252, 4 * std::sqrt(8.0 / 252 / kTrials));
}

TEST(RelativeShift, IsTheMedianOfAllRatios) {
  // Ratios 1.1, 1.2, 0.55, 0.6: the middle of 0.6 and 1.1 in logarithms is sqrt(0.66).
  EXPECT_NEAR(relative_shift(Values{10, 20}, Values{11, 12}), std::sqrt(0.66) - 1, 1e-12);
  EXPECT_NEAR(relative_shift(Values{10}, Values{13}), 0.3, 1e-12);
}

TEST(RelativeShift, IsNotMovedByOneOutlier) {
  EXPECT_NEAR(relative_shift(Values{10, 10, 10, 10, 900}, Values{11, 11, 11, 11, 11}), 0.1, 1e-12);
}

// Sorted .01, .02, .04: times 3, 2 and 1.
TEST(Holm, CorrectsEachByWhatIsLeft) {
  EXPECT_THAT(holm_corrected(Values{0.04, 0.01, 0.02}),
              ElementsAre(DoubleNear(0.04, 1e-12), DoubleNear(0.03, 1e-12), DoubleNear(0.04, 1e-12)));
  EXPECT_THAT(holm_corrected(Values{0.5, 0.9}), ElementsAre(1.0, 1.0));
  EXPECT_THAT(holm_corrected(Values{}), IsEmpty());
}

}  // namespace
}  // namespace hbench::rank_test_test
