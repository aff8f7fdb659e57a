// Verdicts of tracked cases: values by hand, at the edges of the rule.

#include "analysis/track/judge.hpp"

#include <cmath>

#include "tests/support/matchers.hpp"
#include "tracked_values.hpp"

namespace hbench::track_judge_test {
namespace {

TEST(TrackJudge, PassesWhatIsAsFast) {
  const TrackJudgement same = judged({runs(), head(1)});
  EXPECT_EQ(same.verdict, TrackVerdict::pass);
  EXPECT_EQ(same.reason, "less than 3 % apart");
  EXPECT_NEAR(same.shift, 0, 1e-3);
  EXPECT_EQ(same.runs, 6U);
  EXPECT_EQ(same.baseline_launches, 30U);
  EXPECT_EQ(same.head_launches, 10U);
  EXPECT_LT(same.interval.low, 0);
  EXPECT_GT(same.interval.high, 0);
  EXPECT_TRUE(same.next_step.empty());
}

TEST(TrackJudge, FindsWhatIsSlowerAndWhatIsFaster) {
  const TrackJudgement slower = judged({runs(), head(1.05)});
  EXPECT_EQ(slower.verdict, TrackVerdict::regressed);
  EXPECT_EQ(slower.reason, "+5.0 %, p 3.1e-06 over the gate, confirmed by 5 launches (+5.0 %, p 3.1e-06)");
  EXPECT_NEAR(slower.shift, 0.05, 1e-3);
  EXPECT_LT(slower.p, 1e-4);
  EXPECT_EQ(judged({runs(), head(0.95)}).verdict, TrackVerdict::improved);
}

TEST(TrackJudge, TurnsTheDirectionOfRates) {
  EXPECT_EQ(judged({runs(), head(0.95), false}).verdict, TrackVerdict::regressed);
  EXPECT_EQ(judged({runs(), head(1.05), false}).verdict, TrackVerdict::improved);
}

// A change of 2.9 % is as sure as one of 3.1 %, and nobody cares.
TEST(TrackJudge, CallsNothingAChangeThatIsSmallerThanTheLeastEffect) {
  EXPECT_EQ(judged({runs(), head(1.029)}).verdict, TrackVerdict::pass);
  EXPECT_EQ(judged({runs(), head(1.031)}).verdict, TrackVerdict::regressed);
  EXPECT_EQ(judged({runs(), head(1.031)}, {.least_effect = 0.05}).verdict, TrackVerdict::pass);
}

// Medians of runs at -2, 0 and 2 %: half of them are 2 % from their median, so the deviation is 1.4826 times ln 1.02,
// and four of these are 12 %.
TEST(TrackJudge, CallsNothingAChangeThatRunsShowAmongThemselves) {
  const TrackJudgement within = judged({runs(1, 0.02), head(1.1)});
  EXPECT_NEAR(within.resolution, std::expm1(4 * 1.4826 * std::log(1.02)), 2e-3);
  EXPECT_EQ(within.verdict, TrackVerdict::inconclusive) << "nor is it called none";
  EXPECT_EQ(within.reason, "+10.0 %, and runs of the baseline differ by 12 % among themselves");
  EXPECT_EQ(within.next_step, "hold neighbours to each other (hbench track pair), or measure on a quieter machine");
  EXPECT_EQ(judged({runs(1, 0.02), head(1.029)}).verdict, TrackVerdict::pass) << "nobody cares";
  EXPECT_EQ(judged({runs(1, 0.02), head(1.13)}).verdict, TrackVerdict::regressed);
}

TEST(TrackJudge, WantsARegressionTwice) {
  const TrackJudgement once = judged({runs(), head(1.05, 5)});
  EXPECT_EQ(once.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(once.reason, "+5.0 % by 5 launches, and 0 of 5 launches that would confirm it");
  EXPECT_EQ(once.next_step, "measure 5 further launches, 10 in all");
  EXPECT_TRUE(once.suspected) << "not to be passed by";
  EXPECT_EQ(judged({runs(), head(1.05, 5)}, {.confirming = 0}).verdict, TrackVerdict::regressed);
  EXPECT_EQ(judged({runs(), head(1.05, 8)}).next_step, "measure 2 further launches, 10 in all");
  Launch disturbed = head(1.05, 5);
  for (const double value : head(1, 5)) disturbed.push_back(value);
  const TrackJudgement gone = judged({runs(), disturbed});
  EXPECT_EQ(gone.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(gone.reason, "+5.0 % by 5 launches, and +0.0 % by 5 further ones");
  EXPECT_FALSE(gone.suspected);
  Launch opposite = head(1.05, 5);
  for (const double value : head(0.95, 5)) opposite.push_back(value);
  EXPECT_EQ(judged({runs(), opposite}).verdict, TrackVerdict::inconclusive);
}

TEST(TrackJudge, WantsAnImprovementTwice) {
  const TrackJudgement once = judged({runs(), head(0.95, 5)});
  EXPECT_EQ(once.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(once.wanted, 5);
  EXPECT_FALSE(once.suspected) << "nobody is harmed";
  EXPECT_EQ(judged({runs(), head(0.95, 5)}, {.confirming = 0}).verdict, TrackVerdict::improved);
}

// The last five launches confirm, and all before them decide.
TEST(TrackJudge, DecidesByMoreLaunchesWhereThereAre) {
  EXPECT_EQ(deciding_launches(3, {}), 3U);
  EXPECT_EQ(deciding_launches(5, {}), 5U);
  EXPECT_EQ(deciding_launches(8, {}), 5U);
  EXPECT_EQ(deciding_launches(20, {}), 15U);
  EXPECT_EQ(deciding_launches(20, {.confirming = 0}), 20U);
}

// A shift of which the whole interval is relevant is suspected, however few launches show it.
TEST(TrackJudge, SuspectsWhatFewLaunchesShowClearly) {
  const TrackJudgement three = judged({runs(), head(1.08, 3)});
  EXPECT_EQ(three.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(three.reason, "3 of 5 launches");
  EXPECT_EQ(three.next_step, "measure 10 launches");
  EXPECT_EQ(three.wanted, 7);
  EXPECT_TRUE(three.suspected);
  EXPECT_FALSE(judged({runs(), head(0.92, 3)}).suspected);
  EXPECT_FALSE(judged({runs(), head(1.02, 3)}).suspected);
  EXPECT_TRUE(judged({runs(), head(0.92, 3), false}).suspected) << "a rate";
}

TEST(TrackJudge, SaysNothingOfTooLittle) {
  const TrackJudgement young = judged({runs(1, 0.002, 4), head(1.05)});
  EXPECT_EQ(young.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(young.reason, "4 of 5 runs of the baseline");
  EXPECT_EQ(judged({runs(1, 0.002, 5), head(1.05)}).verdict, TrackVerdict::regressed);
  const TrackJudgement brief = judged({runs(), head(1.05, 4)});
  EXPECT_EQ(brief.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(brief.reason, "4 of 5 launches");
  EXPECT_EQ(judged({runs(), {}}).verdict, TrackVerdict::missing);
  EXPECT_EQ(judged({{}, head(1)}).verdict, TrackVerdict::fresh);
  EXPECT_FALSE(judged({{}, head(1)}).compared());
}

// Launches at 0.9 and at 1.1 in turn: a change of 3 % cannot be seen.
TEST(TrackJudge, SaysWhereLaunchesScatterTooMuch) {
  std::vector<Launch> wide;
  for (int run = 0; run < 6; ++run) wide.push_back({0.9, 1.1, 0.95, 1.05, 1});
  const TrackJudgement blind = judged({wide, {0.9, 1.1, 0.95, 1.05, 1.01}});
  EXPECT_EQ(blind.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(blind.reason, "launches scatter too much to see 3 %");
  const double width = (blind.interval.high - blind.interval.low) / 0.06;
  EXPECT_THAT(blind.next_step, HasSubstr(fmt::format("about {:.0f} launches", std::ceil(5 * width * width))));
  EXPECT_EQ(judged({wide, {0.9, 1.1, 1.06, 1.08, 0.97}}).reason, blind.reason) << "6 % more, and as likely by chance";
}

// Three runs' worth of values by chance: with three values of five beyond all others p is small, but not over a gate.
TEST(TrackJudge, CorrectsForTheCasesOfAGate) {
  std::vector<Launch> few;
  for (int run = 0; run < 5; ++run) few.push_back({1 + 0.001 * run});
  const TrackedCase slower{few, head(1.06, 10)}, same{few, head(1.002, 10)};
  EXPECT_EQ(judged(slower).verdict, TrackVerdict::regressed) << "p is 2 of 252";
  std::vector<TrackedCase> gate(20, same);
  gate.push_back(slower);
  const TrackJudgement among = judge(gate).back();
  EXPECT_EQ(among.verdict, TrackVerdict::inconclusive);
  EXPECT_NEAR(among.corrected, 21 * 2.0 / 252, 1e-12);
  EXPECT_EQ(among.reason, "+5.8 % may be chance: p 0.17 over the gate");
  EXPECT_TRUE(among.suspected) << "more launches would tell";
  EXPECT_EQ(among.next_step, "measure 16 launches") << "11 that decide: 21 times 2 of 4368";
}

TEST(TrackJudge, AsksOnlyWhatCanBeAnswered) {
  std::vector<TrackedCase> gate(30, TrackedCase{runs(1, 0.002, 2), head(1)});
  gate.push_back({runs(), head(1.05)});
  EXPECT_NEAR(judge(gate).back().corrected, judge(gate).back().p, 1e-15) << "the others have too few runs";
}

TEST(TrackJudge, TakesTheNewestRunsOfTheBaseline) {
  std::vector<Launch> all = runs(2, 0.002, 20);
  for (const Launch& newer : runs(1, 0.002, 30)) all.push_back(newer);
  EXPECT_EQ(judged({all, head(1)}).verdict, TrackVerdict::pass);
  EXPECT_EQ(judged({all, head(1)}).runs, 30U);
  EXPECT_EQ(judged({all, head(1)}, {.most_runs = 6}).runs, 6U);
}

// One run since the level changed, and 12 % between runs before that.
TEST(TrackJudge, LearnsFromEarlierLevelsHowFarRunsDiffer) {
  TrackedCase young{
      .baseline = runs(1, 0.002, 1), .head = head(1.1), .larger_is_worse = true, .earlier = runs(2, 0.02)};
  EXPECT_EQ(judged(young).verdict, TrackVerdict::inconclusive);
  EXPECT_NEAR(judged(young).resolution, std::expm1(4 * 1.4826 * std::log(1.02)), 2e-3);
  young.head = head(1.13);
  EXPECT_EQ(judged(young).verdict, TrackVerdict::regressed);
  EXPECT_EQ(judged(young).runs, 1U);
  young.earlier = runs(2, 0.02, 3);
  EXPECT_EQ(judged(young).reason, "4 of 5 runs of the baseline");
  young = {.baseline = {}, .head = head(1), .larger_is_worse = true, .earlier = runs()};
  EXPECT_EQ(judged(young).verdict, TrackVerdict::fresh);
}

TEST(TrackJudge, HasAWordForEveryVerdict) {
  for (const auto& [verdict, word] :
       {std::pair(TrackVerdict::pass, "pass"), std::pair(TrackVerdict::improved, "improved"),
        std::pair(TrackVerdict::regressed, "regressed"), std::pair(TrackVerdict::inconclusive, "inconclusive"),
        std::pair(TrackVerdict::missing, "missing"), std::pair(TrackVerdict::fresh, "new"),
        std::pair(TrackVerdict::incomparable, "incomparable")})
    EXPECT_EQ(to_string(verdict), word);
}

}  // namespace
}  // namespace hbench::track_judge_test
