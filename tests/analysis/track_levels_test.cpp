// Baselines that have changed their level, and machines that have several states.

#include <gmock/gmock.h>

#include "tracked_values.hpp"

namespace hbench::track_levels_test {
namespace {

/// Thirty runs, each fifth of which (3, 8, 13 ...) is `slow` times slower.
std::vector<Launch> two_states(double slow) {
  std::vector<Launch> all = runs(1, 0.002, 30);
  for (std::size_t i = 2; i < all.size(); i += 5)
    for (double& value : all[i]) value *= slow;
  return all;
}

TEST(TrackLevels, CallsASecondStateOfTheMachineNoChange) {
  const TrackJudgement slow = judged({two_states(1.08), head(1.08)});
  EXPECT_EQ(slow.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(slow.reason,
            "+7.8 %, and 6 of 30 earlier runs were as slow (runs 3, 8, 13, 18 and 2 more): the machine has two states");
  EXPECT_EQ(slow.next_step,
            "hold neighbours to each other (hbench track pair), or find what the slow state is (hbench doctor)");
  EXPECT_FALSE(slow.suspected);
  EXPECT_GT(slow.resolution, 0.08) << "the second state widens it";
  EXPECT_EQ(judged({two_states(1.08), head(1.08, 5)}).verdict, TrackVerdict::inconclusive);
  EXPECT_FALSE(judged({two_states(1.08), head(1.08, 5)}).suspected);
  EXPECT_EQ(judged({two_states(1.08), head(1)}).verdict, TrackVerdict::pass);
  EXPECT_EQ(judged({two_states(1.08), head(1.15)}).verdict, TrackVerdict::regressed) << "slower than either state";
  EXPECT_EQ(judged({two_states(0.92), head(0.92)}).reason,
            "-7.8 %, and 6 of 30 earlier runs were as fast (runs 3, 8, 13, 18 and 2 more): the machine has two states");
  EXPECT_EQ(judged({two_states(0.92), head(0.92), false}).verdict, TrackVerdict::inconclusive) << "of rates";
}

TEST(TrackLevels, NamesTheRunThatWasAsSlow) {
  TrackedCase once{runs(1, 0.002, 30), head(1.08)};
  for (double& value : once.baseline[20]) value *= 1.09;
  for (std::int64_t run = 0; run < 30; ++run) once.known.push_back({.run = 100 + run});
  EXPECT_EQ(judged(once).reason, "+8.0 %, and 1 of 30 earlier runs was as slow (run 120): the machine has two states");
  once.head = head(1.05);
  EXPECT_EQ(judged(once).verdict, TrackVerdict::regressed) << "not as slow as that";
  once.head = head(1.08);
  // One that was disturbed much more hides nothing.
  for (double& value : once.baseline[20]) value *= 90;
  EXPECT_EQ(judged(once).verdict, TrackVerdict::regressed);
}

// Runs of one commit on a machine of two states: microseconds of a small all-reduce. Once 14 and 21 regressed.
TEST(TrackLevels, FindsNoRegressionInRealRunsOfOneCommit) {
  const std::vector<Launch> real{{4.276, 4.146, 1.072, 1.041, 1.041},
                                 {0.961, 1.032, 1.032, 1.613, 1.062},
                                 {3.325, 1.472, 1.162, 1.423, 1.603},
                                 {3.415, 1.101, 1.071, 0.941, 1.052},
                                 {1.052, 1.111, 1.041, 1.322, 1.262},
                                 {1.021, 0.982, 1.072, 1.081, 0.992},
                                 {0.961, 1.071, 1.662, 7858.777, 5.148},
                                 {15.693, 1.793, 1347.435, 1.002, 1.012},
                                 {1.011, 1.072, 1.052, 1.011, 1.492},
                                 {1.032, 1.102, 0.982, 0.951, 0.951},
                                 {0.991, 1.082, 1.672, 1.102, 2.263},
                                 {1.132, 1.772, 0.952, 1.432, 2.213},
                                 {1.032, 4.166, 4.557, 3.926, 4.116},
                                 {4.297, 4.737, 4.146, 3.335, 3.916},
                                 {1.062, 1.071, 1.052, 0.951, 2.283},
                                 {1.593, 1.031, 1.052, 0.942, 1.592},
                                 {1.102, 1.152, 1.503, 1.502, 1.473},
                                 {0.962, 1.032, 1.232, 0.991, 1.222},
                                 {1.963, 1.462, 1.562, 1.112, 0.951},
                                 {1.282, 2.093, 4.136, 4.347, 4.707},
                                 {3.916, 3.856, 4.176, 3.946, 4.377, 4.767, 3.856, 4.196, 4.417, 4.336}};
  for (const bool known : {false, true})
    for (const int confirming : {0, 5})
      for (std::size_t head = 5; head < real.size(); ++head) {
        TrackedCase tracked{{real.begin(), real.begin() + static_cast<std::ptrdiff_t>(head)}, real[head]};
        for (std::size_t run = 0; run < head; ++run)
          tracked.known.push_back({static_cast<std::int64_t>(run + 1), known});
        const TrackJudgement judgement = judged(tracked, {.confirming = confirming});
        // Without confirmation and the commit a machine that is slow twice in a row looks like a slower commit.
        const bool excusable = head == 13 && !known && confirming == 0;
        EXPECT_EQ(judgement.verdict == TrackVerdict::regressed, excusable) << head + 1 << ": " << judgement.reason;
        EXPECT_EQ(judgement.suspected, head == 13 && !known && confirming > 0) << head + 1 << ": " << judgement.reason;
      }
}

TEST(TrackLevels, KnowsStatesOfEarlierLevels) {
  EXPECT_EQ(judged({.baseline = runs(), .head = head(1.08), .earlier = two_states(1.08)}).reason,
            "+8.0 %, and 6 of 36 earlier runs were as slow: the machine has two states");
}

TEST(TrackLevels, FindsNoChangeOfEqualCode) {
  TrackedCase equal{runs(), head(1.08)};
  equal.known = {{1, true}, {2, true}, {3, true}, {4, true}, {5, true}, {6, true}};
  const TrackJudgement same = judged(equal);
  EXPECT_EQ(same.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(
      same.reason,
      "+8.0 %, and all runs of the baseline measured the same commit: equal code has not changed, the machine has");
  EXPECT_FALSE(same.suspected);
  equal.known = {{1}, {2}, {3}, {4}, {5, true}, {6}};
  EXPECT_EQ(judged(equal).reason,
            "+8.0 %, and run 5 measured the same commit: equal code has not changed, the machine has");
  equal.known[4].equal_code = false;
  EXPECT_EQ(judged(equal).verdict, TrackVerdict::regressed);
}

std::vector<Launch> operator+(std::vector<Launch> first, const std::vector<Launch>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

// A slower commit that was merged does not become the norm because it is there.
TEST(TrackLevels, HoldsToTheLevelBeforeTheBaselineItselfGotSlower) {
  const std::vector<Launch> merged = runs(1, 0.002, 5) + runs(1.08, 0.002, 7);
  const TrackJudgement slower = judged({merged, head(1.08, 5)});
  EXPECT_EQ(slower.verdict, TrackVerdict::regressed);
  EXPECT_EQ(slower.since, 6);
  EXPECT_EQ(slower.runs, 5U);
  EXPECT_EQ(slower.reason, "+8.0 % since run 6, p 7e-06 over the gate, confirmed by 7 runs");
  EXPECT_EQ(slower.next_step, "hbench track bisect, or hbench track accept 6 where it is wanted");
  EXPECT_EQ(judged({merged, head(1)}).verdict, TrackVerdict::pass) << "mended";
  // Of fewer runs than a level has.
  const TrackJudgement again = judged({runs(1, 0.002, 9) + runs(1.08, 0.002, 1), head(1.08)});
  EXPECT_EQ(again.verdict, TrackVerdict::regressed);
  EXPECT_EQ(again.since, 10);
  EXPECT_EQ(again.reason, "+8.0 % since run 10, p 4.7e-07 over the gate, confirmed by 5 launches (+8.0 %, p 4.7e-07)");
}

TEST(TrackLevels, HoldsToTheNewestLevelWhereTheBaselineGotFaster) {
  const std::vector<Launch> faster = runs(1, 0.002, 12) + runs(0.9, 0.002, 5);
  EXPECT_EQ(judged({faster, head(0.9)}).verdict, TrackVerdict::pass);
  const TrackJudgement lost = judged({faster, head(1)});
  EXPECT_EQ(lost.verdict, TrackVerdict::regressed);
  EXPECT_NEAR(lost.shift, 1 / 0.9 - 1, 1e-3);
  EXPECT_EQ(lost.since, 0) << "with the head";
  EXPECT_EQ(lost.runs, 5U);
}

}  // namespace
}  // namespace hbench::track_levels_test
