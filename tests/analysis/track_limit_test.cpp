// Limits that somebody wrote down. Expected verdicts follow from the shares in each comment.

#include "analysis/track/report.hpp"

#include "tests/support/matchers.hpp"

namespace hbench::track_limit_test {
namespace {

const TrackLimit kTime{.match = "x", .value = 0.1, .worse = 0.05, .better = 0.2, .warn = 0.03, .place = "f.toml:3"};

TrackVerdict verdict_of(const Launch& values, const TrackLimit& limit = kTime) {
  return judge_limit(values, limit, {}).verdict;
}

TEST(TrackLimit, FailsWhereEveryLaunchIsBeyond) {
  const TrackJudgement judged = judge_limit({0.106, 0.107, 0.106, 0.108, 0.109}, kTime, {});
  EXPECT_EQ(judged.verdict, TrackVerdict::regressed);
  EXPECT_THAT(judged.reason, AllOf(HasSubstr("7 % worse"), HasSubstr("5 % are allowed"), HasSubstr("(f.toml:3)")));
  EXPECT_EQ(judged.before, 0.1);
  EXPECT_EQ(judged.after, 0.107);
  EXPECT_NEAR(judged.shift, 0.07, 1e-12);
  EXPECT_NEAR(judged.interval.low, 0.06, 1e-12);
  EXPECT_NEAR(judged.interval.high, 0.09, 1e-12);
  EXPECT_TRUE(judged.compared());
}

TEST(TrackLimit, SaysNothingForSureWhereLaunchesAreOnBothSides) {
  EXPECT_EQ(verdict_of({0.106, 0.107, 0.106, 0.108, 0.104}), TrackVerdict::inconclusive) << "the middle is beyond";
  EXPECT_EQ(verdict_of({0.101, 0.101, 0.102, 0.108, 0.109}), TrackVerdict::pass) << "the middle is within";
  EXPECT_EQ(verdict_of({0.2, 0.2, 0.2, 0.2}), TrackVerdict::inconclusive) << "four of five launches";
  EXPECT_EQ(verdict_of({}), TrackVerdict::missing);
}

TEST(TrackLimit, WarnsNearItsEndAndOfWhatIsTooGood) {
  const TrackJudgement near = judge_limit({0.104, 0.104, 0.104, 0.104, 0.104}, kTime, {});
  EXPECT_EQ(near.verdict, TrackVerdict::pass);
  EXPECT_THAT(near.reason, HasSubstr("near its limit"));
  EXPECT_FALSE(near.next_step.empty());
  EXPECT_TRUE(judge_limit({0.102, 0.102, 0.102, 0.102, 0.102}, kTime, {}).next_step.empty());
  EXPECT_EQ(verdict_of({0.07, 0.07, 0.07, 0.07, 0.07}), TrackVerdict::inconclusive) << "30 % faster is suspicious";
  TrackLimit fast = kTime;
  fast.better = 0;
  EXPECT_EQ(verdict_of({0.07, 0.07, 0.07, 0.07, 0.07}, fast), TrackVerdict::pass);
}

TEST(TrackLimit, OfARateIsWorseWhereItIsLess) {
  TrackLimit rate = kTime;
  rate.metric = LimitMetric::bus_bandwidth;
  rate.value = 1e10;
  EXPECT_EQ(verdict_of({9e9, 9e9, 9e9, 9.4e9, 9e9}, rate), TrackVerdict::regressed) << "10 % and 6 % less";
  EXPECT_EQ(verdict_of({1.1e10, 1.1e10, 1.1e10, 1.1e10, 1.1e10}, rate), TrackVerdict::pass);
  EXPECT_NEAR(judge_limit({9e9, 9e9, 9e9, 9.4e9, 9e9}, rate, {}).shift, -0.1, 1e-12);
}

CaseResult timed(const Case& asked, std::string_view metric, double seconds) {
  CaseResult result{.asked = asked};
  for (int launch = 0; launch < 2; ++launch)
    result.samples.push_back(
        {.launch = launch, .metric = std::string(metric), .value = seconds * (launch + 1), .unit = "s"});
  return result;
}

TEST(LimitValues, AreInTheLimitsMetric) {
  Case step;
  step.workload = "vgg16";
  step.gpus = 4;
  step.batch_per_gpu = 8;
  const CaseResult trained = timed(step, "step_seconds", 0.1);
  EXPECT_THAT(limit_values(trained, LimitMetric::seconds), ElementsAre(0.1, 0.2));
  EXPECT_THAT(limit_values(trained, LimitMetric::samples_per_second), ElementsAre(320, 160)) << "32 samples in 0.1 s";
  EXPECT_TRUE(limit_values(trained, LimitMetric::bus_bandwidth).empty());
  Case collective;
  collective.gpus = 4;
  collective.collective = {.name = "all-reduce", .bytes = 1000};
  const CaseResult reduced = timed(collective, "in_place_seconds", 0.5);
  EXPECT_THAT(limit_values(reduced, LimitMetric::bus_bandwidth), ElementsAre(3000, 1500))
      << "2 x 3/4 x 1000 B in 0.5 s";
  EXPECT_TRUE(limit_values(reduced, LimitMetric::samples_per_second).empty());
}

}  // namespace
}  // namespace hbench::track_limit_test
