// Verdicts of sides that took turns: values by hand, at the edges of the rule.

#include "analysis/track/paired.hpp"

#include "tests/support/matchers.hpp"

namespace hbench::track_paired_test {
namespace {

/// So many pairs whose heads are `ratio` times their bases, by turns `scatter` more and less; the machine gets 10 %
/// slower meanwhile.
TrackedCase pairs(double ratio, int count, double scatter = 0.002) {
  TrackedCase tracked;
  Launch& base = tracked.baseline.emplace_back();
  for (int i = 0; i < count; ++i) {
    base.push_back(1 + 0.1 * i / count);
    tracked.head.push_back(base.back() * ratio * (1 + scatter * (i % 2 == 0 ? 1 : -1)));
  }
  return tracked;
}

TrackedCase operator+(TrackedCase first, const TrackedCase& more) {
  first.baseline[0].insert(first.baseline[0].end(), more.baseline[0].begin(), more.baseline[0].end());
  first.head.insert(first.head.end(), more.head.begin(), more.head.end());
  return first;
}

TrackJudgement judged_pairs(const TrackedCase& tracked, const PairRule& rule = {}) {
  return judge_pairs({tracked}, rule).at(0);
}

// 2 / 2^8 is 0.8 %, and 20 times 2 / 2^12 is 0.98 %; two pairs less are 3.1 % and 3.9 %.
TEST(PairedJudge, KnowsHowManyPairsCanTellAChangeFromChance) {
  EXPECT_EQ(fewest_pairs(1, 0.01), 8);
  EXPECT_EQ(fewest_pairs(20, 0.01), 12);
  EXPECT_EQ(fewest_pairs(21, 0.01), 14);
  EXPECT_EQ(fewest_pairs(0, 0.01), 8);
  EXPECT_EQ(fewest_pairs(1, 0.05), 6);
  EXPECT_EQ(default_pairs(20, 0.01), 16);
}

TEST(PairedJudge, PassesWhatIsAsFast) {
  const TrackJudgement same = judged_pairs(pairs(1, 24));
  EXPECT_EQ(same.verdict, TrackVerdict::pass);
  EXPECT_EQ(same.reason, "less than 3 % apart");
  EXPECT_THAT(same.next_step, IsEmpty());
  EXPECT_NEAR(same.shift, 0, 1e-3);
  EXPECT_EQ(same.baseline_launches, 24U);
  EXPECT_EQ(same.head_launches, 24U);
  EXPECT_NEAR(same.interval.low, 0, 0.0021);
  EXPECT_NEAR(same.interval.high, 0, 0.0021);
  EXPECT_EQ(judged_pairs(pairs(1, 24, 0)).verdict, TrackVerdict::pass);
  EXPECT_EQ(judged_pairs(pairs(1, 24, 0)).p, 1);
}

// 5 % in 12 pairs of one sign: p is 2 / 4096. That the machine drifts by 10 % does not show.
TEST(PairedJudge, FindsWhatIsSlowerAndWhatIsFaster) {
  const TrackJudgement slower = judged_pairs(pairs(1.05, 24));
  EXPECT_EQ(slower.verdict, TrackVerdict::regressed);
  EXPECT_DOUBLE_EQ(slower.p, 2.0 / 4096);
  EXPECT_NEAR(slower.shift, 0.05, 1e-3);
  EXPECT_GT(slower.interval.low, 0.045);
  EXPECT_LT(slower.interval.high, 0.055);
  EXPECT_EQ(slower.reason, "+5.0 %, p 0.00049 over the gate, confirmed by 12 pairs (+5.0 %, p 0.00049)");
  EXPECT_EQ(judged_pairs(pairs(1 / 1.05, 24)).verdict, TrackVerdict::improved);
}

TEST(PairedJudge, TurnsTheDirectionOfRates) {
  TrackedCase rate = pairs(1 / 1.05, 24);
  rate.larger_is_worse = false;
  EXPECT_EQ(judged_pairs(rate).verdict, TrackVerdict::regressed);
  rate = pairs(1.05, 24);
  rate.larger_is_worse = false;
  EXPECT_EQ(judged_pairs(rate).verdict, TrackVerdict::improved);
}

TEST(PairedJudge, CallsNothingAChangeThatIsSmallerThanTheLeastEffect) {
  EXPECT_EQ(judged_pairs(pairs(1.029, 24)).verdict, TrackVerdict::pass);
  EXPECT_EQ(judged_pairs(pairs(1.031, 24)).verdict, TrackVerdict::regressed);
  EXPECT_EQ(judged_pairs(pairs(1.031, 24), {.least_effect = 0.05}).verdict, TrackVerdict::pass);
}

TEST(PairedJudge, WantsAChangeTwice) {
  const TrackJudgement once = judged_pairs(pairs(1.05, 17));
  EXPECT_EQ(once.verdict, TrackVerdict::inconclusive);
  EXPECT_TRUE(once.suspected);
  EXPECT_EQ(once.reason, "+5.0 % by 12 pairs, and 5 of 6 pairs that would confirm it");
  EXPECT_EQ(once.next_step, "measure further pairs: --max-launches 18");
  EXPECT_EQ(judged_pairs(pairs(1.05, 18)).verdict, TrackVerdict::regressed);
  EXPECT_EQ(judged_pairs(pairs(1.05, 12), {.confirm = false}).verdict, TrackVerdict::regressed);
  const TrackJudgement gone = judged_pairs(pairs(1.05, 12) + pairs(1.002, 12));
  EXPECT_EQ(gone.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(gone.reason, "+5.0 % by 12 pairs, and +0.2 % by 12 further ones");
  EXPECT_FALSE(gone.suspected);
  EXPECT_EQ(judged_pairs(pairs(1 / 1.05, 12)).verdict, TrackVerdict::inconclusive);
  EXPECT_FALSE(judged_pairs(pairs(1 / 1.05, 12)).suspected);
  EXPECT_EQ(judged_pairs(pairs(1 / 1.05, 12), {.confirm = false}).verdict, TrackVerdict::improved);
}

// Of six pairs all agree at best, once in 32; a case needs once in 100.
TEST(PairedJudge, SaysHowManyPairsExcludeChance) {
  const TrackJudgement few = judged_pairs(pairs(1.05, 12), {.pairs = 6});
  EXPECT_EQ(few.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(few.reason, "+5.0 % by 6 pairs, of which it takes 8 to exclude chance");
  EXPECT_EQ(few.next_step, "measure 8 pairs: --launches 8");
  EXPECT_TRUE(few.suspected) << "its interval excludes 3 %";
  EXPECT_FALSE(judged_pairs(pairs(1.05, 12, 0.03), {.pairs = 6}).suspected) << "from 2 to 8 %";
  EXPECT_FALSE(judged_pairs(pairs(1 / 1.05, 12), {.pairs = 6}).suspected) << "faster";
  EXPECT_EQ(judged_pairs(pairs(1.05, 16), {.pairs = 8}).verdict, TrackVerdict::regressed);
}

TEST(PairedJudge, WaitsForThePairsThatDecide) {
  const TrackJudgement one = judged_pairs(pairs(1.05, 1));
  EXPECT_EQ(one.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(one.reason, "1 of 12 pairs");
  EXPECT_EQ(one.p, 1);
}

// Half of the pairs 20 % up and half 12 % down: the middle is 4 % up, and that may well be chance.
TEST(PairedJudge, CallsScatterNoChange) {
  TrackedCase wild = pairs(1, 24);
  for (std::size_t i = 0; i < 24; ++i) wild.head[i] *= i % 2 == 0 ? 1.2 : 0.9;
  const TrackJudgement judgement = judged_pairs(wild);
  EXPECT_EQ(judgement.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(judgement.reason, "+3.9 % may be chance: p 0.17 over the gate");
  for (std::size_t i = 0; i < 24; ++i) wild.head[i] *= i % 2 == 0 ? 1 / 1.2 : 1 / 0.9 * (i % 4 == 1 ? 1.1 : 1 / 1.1);
  EXPECT_EQ(judged_pairs(wild).reason, "pairs scatter too much to see 3 %");
}

// 12 pairs of one sign are 2 / 4096 by themselves, 21 times that is 1.03 %, and 20 times 0.98 %.
TEST(PairedJudge, CorrectsForTheCasesOfTheGate) {
  std::vector<TrackedCase> gate(20, pairs(1, 24));
  gate[7] = pairs(1.05, 24);
  EXPECT_EQ(judge_pairs(gate)[7].verdict, TrackVerdict::regressed);
  EXPECT_NEAR(judge_pairs(gate)[7].corrected, 20 * 2.0 / 4096, 1e-12);
  gate.push_back(pairs(1, 24));
  EXPECT_EQ(judge_pairs(gate)[7].verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(judge_pairs(gate)[7].reason, "+5.0 % by 12 pairs, of which it takes 14 to exclude chance");
}

TEST(PairedJudge, NamesWhatOnlyOneSideHas) {
  EXPECT_EQ(judged_pairs({.baseline = {{1, 1}}, .head = {}}).verdict, TrackVerdict::missing);
  EXPECT_EQ(judged_pairs({.baseline = {}, .head = {1, 1}}).verdict, TrackVerdict::fresh);
  EXPECT_EQ(judged_pairs({.baseline = {}, .head = {}}).verdict, TrackVerdict::missing);
  EXPECT_FALSE(judged_pairs({.baseline = {}, .head = {1, 1}}).compared());
}

}  // namespace
}  // namespace hbench::track_paired_test
