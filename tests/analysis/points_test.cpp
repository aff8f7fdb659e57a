#include "analysis/points/points.hpp"

#include "example_results.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::points_test {
namespace {

using testing::Optional;

CaseResult measured(std::vector<std::vector<std::vector<double>>> seconds) {
  return {.asked = example_case(), .samples = steps(seconds)};
}

CaseResult baseline(std::vector<std::vector<std::vector<double>>> seconds) {
  CaseResult result = measured(std::move(seconds));
  result.asked.gpus = 1;
  result.asked.strategy = {.algorithm = "none"};
  return result;
}

CaseResult of(Evidence evidence, std::vector<Sample> samples) {
  return {.asked = example_case(evidence), .samples = std::move(samples)};
}

TEST(MeasuredPoint, TakesTheMeanOfTheRanksInEachIteration) {
  // Means 1.5, 2.5, 3; the median of all samples would be 2.
  const Point point = make_points({measured({{{1, 2}, {4, 1}, {3, 3}}})}).front();
  EXPECT_EQ(point.step_seconds, 2.5);
  EXPECT_DOUBLE_EQ(point.throughput, 4 * 32 / 2.5);
  EXPECT_DOUBLE_EQ(point.throughput_per_gpu, 32 / 2.5);
  EXPECT_EQ(point.samples, 6u);
  EXPECT_EQ(point.efficiency, std::nullopt);
  EXPECT_EQ(point.baseline, "");
}

// Two ranks in turn are served first: they end their steps at 3 and 1, at 4 and 4, at 7 and 5, at 8 and 8. After four
// steps 8 s are gone, although one rank has taken 3 s for each.
TEST(MeasuredPoint, IsNoSlowerWhereRanksEndTheirStepsInTurns) {
  EXPECT_EQ(make_points({measured({{{3, 1}, {1, 3}, {3, 1}, {1, 3}}})}).front().step_seconds, 2);
}

// In 12 s one rank does 4 steps and the other one: as much as two that take 4.8 s each.
TEST(MeasuredPoint, CountsASlowRankForWhatItMakesWhereNobodyWaitsForIt) {
  CaseResult result = measured({{{3, 12}, {3, 12}, {3, 12}}});
  result.asked.strategy.method = "async-ps";
  EXPECT_DOUBLE_EQ(make_points({result}).front().step_seconds, 4.8);
  result.asked.strategy.method = "local-sgd:1";
  EXPECT_DOUBLE_EQ(make_points({result}).front().step_seconds, 7.5);
}

// In 11 s the rank that stalled in its second step has done 3, and the other one 3 in 3 s: 14/11 steps a second.
TEST(MeasuredPoint, CountsAStallInFullWhereNobodyWaits) {
  CaseResult result = measured({{{1, 1}, {1, 9}, {1, 1}}});
  result.asked.strategy.method = "gossip";
  EXPECT_DOUBLE_EQ(make_points({result}).front().step_seconds, 2 / (1 + 3.0 / 11));
  EXPECT_EQ(make_points({result}).front().iterations, 3u);
}

TEST(MeasuredPoint, OfAMethodOfANewerHbenchIsWhatRanksTakeOnAverage) {
  CaseResult result = measured({{{3, 12}}});
  result.asked.strategy.method = "a-newer-one:3";
  EXPECT_EQ(make_points({result}).front().step_seconds, 7.5);
}

TEST(MeasuredPoint, CountsLaunchesAndTheirTimedIterations) {
  CaseResult result{.asked = example_case()};
  result.samples = steps({{{1, 2}, {1, 2}, {1, 2}}, {{1, 2}, {1, 2}}});
  result.samples[0].warmup = result.samples[1].warmup = true;
  const Point point = make_points({result}).at(0);
  EXPECT_EQ(point.launches, 2u);
  EXPECT_EQ(point.iterations, 4u);
}

TEST(MeasuredPoint, LeavesWarmUpAndOtherMetricsOut) {
  CaseResult result = measured({{{1}, {1}}});
  result.samples.push_back({.iteration = 7, .warmup = true, .metric = "step_seconds", .value = 50});
  result.samples.push_back({.iteration = 8, .metric = "ledger/wait", .value = 60});
  EXPECT_EQ(make_points({result}).front().step_seconds, 1);
  EXPECT_EQ(make_points({result}).front().samples, 2u);
}

TEST(MeasuredPoint, KnowsWhichIterationsWereThrottled) {
  CaseResult result = measured({{{1}, {1}}});
  result.samples.push_back({.iteration = 1, .metric = "step_clock_reasons", .value = 0x80});
  EXPECT_EQ(make_points({result}).front().throttled.throttled, 1u);
  result.asked.collective.name = "all-reduce";
  EXPECT_EQ(make_points({result}).front().throttled.iterations, 0u) << "of a collective, in place";
  result.samples.back().metric = "in_place_clock_reasons";
  EXPECT_EQ(make_points({result}).front().throttled.throttled, 1u);
}

TEST(MeasuredPoint, HasTheEfficiencyAgainstOneProcessWithAnInterval) {
  const std::vector<Point> points =
      make_points({measured({{{2}, {2.1}}, {{2.2}, {2}}}), baseline({{{1}, {1.1}}, {{1}, {1.2}}})});
  // Launch medians 2.05 and 2.1, 1.05 and 1.1.
  EXPECT_THAT(points[0].efficiency, Optional(DoubleEq(1.075 / 2.075)));
  EXPECT_EQ(points[0].baseline, "one process without communication, 29.77 samples/s");
  EXPECT_EQ(points[0].interval, "95 % interval for a repeat, 2 launches against 2 of the baseline, unpaired");
  EXPECT_LT(*points[0].efficiency_low, *points[0].efficiency);
  EXPECT_GT(*points[0].efficiency_high, *points[0].efficiency);
}

TEST(MeasuredPoint, IsComparedWithTheBaselineLaunchesBesideItsOwn) {
  CaseResult result = measured({{{2}}, {{4}}, {{2}}});
  for (int launch : {0, 1, 2})
    result.samples.push_back(
        {.launch = launch, .metric = "paired_baseline_seconds", .value = launch == 1 ? 3.0 : 1.5, .unit = "s"});
  // The machine was half as fast during the second pair; the other baseline is of another hour.
  const Point point = make_points({result, baseline({{{1}, {1}}})}).front();
  EXPECT_THAT(point.efficiency, Optional(DoubleEq(0.75)));
  EXPECT_THAT(point.efficiency_low, Optional(DoubleEq(0.75)));
  EXPECT_EQ(point.baseline, "one process without communication, 21.33 samples/s");
  EXPECT_EQ(point.interval, "95 % interval for a repeat, 3 paired launches");
  EXPECT_EQ(point.samples, 3u) << "of its own";
}

TEST(MeasuredPoint, SaysWhereItsEfficiencyIsNotTheRatioOfTheFiguresBesideIt) {
  CaseResult result = measured({{{2}}, {{4}}, {{8}}});
  for (int launch : {0, 1, 2})
    result.samples.push_back({.launch = launch,
                              .metric = "paired_baseline_seconds",
                              .value = launch == 0 ? 1.8 : 2.0 * launch,
                              .unit = "s"});
  // Ratios 0.9, 0.5 and 0.5; medians 2 and 4.
  const Point point = make_points({result}).front();
  EXPECT_NEAR(*point.efficiency, std::sqrt(0.5 * std::sqrt(0.9 * 0.5)), 1e-9);
  EXPECT_EQ(point.baseline,
            "one process without communication, 16 samples/s; the efficiency is the middle one of 3 pairs of launches, "
            "and 50.0 % by medians");
}

TEST(MeasuredPoint, CountsTheSamplesOfAllProcessesThatShareAGpu) {
  CaseResult shared = measured({{{2}, {2.1}}, {{2.2}, {2}}});
  const std::vector<CaseResult> bases{baseline({{{1}, {1.1}}, {{1}, {1.2}}})};
  const Point alone = make_points({shared}, bases).front();
  shared.asked.processes_per_gpu = 2;
  const Point point = make_points({shared}, bases).front();
  EXPECT_DOUBLE_EQ(point.step_seconds, alone.step_seconds);
  EXPECT_DOUBLE_EQ(point.throughput, 2 * alone.throughput);
  EXPECT_DOUBLE_EQ(point.throughput_per_gpu, 2 * alone.throughput_per_gpu);
  EXPECT_DOUBLE_EQ(point.efficiency.value(), 2 * alone.efficiency.value());
  EXPECT_DOUBLE_EQ(point.efficiency_low.value(), 2 * alone.efficiency_low.value());
  EXPECT_DOUBLE_EQ(point.efficiency_high.value(), 2 * alone.efficiency_high.value());
}

TEST(MeasuredPoint, IsExactlyAsFastAsItself) {
  const Point point = make_points({baseline({{{1}, {2}, {3}}})}).front();
  EXPECT_THAT(point.efficiency, Optional(1.0));
  EXPECT_EQ(point.efficiency_low, std::nullopt);
}

TEST(MeasuredPoint, HasNoIntervalWithOneLaunchOfOneTimedIteration) {
  for (const auto& [own, base] : {std::pair{1, 5}, {5, 1}}) {
    const Point point = make_points({measured({std::vector<std::vector<double>>(own, {2.0})}),
                                     baseline({std::vector<std::vector<double>>(base, {1.0})})})
                            .front();
    EXPECT_THAT(point.efficiency, Optional(0.5));
    EXPECT_EQ(point.efficiency_low, std::nullopt);
    EXPECT_EQ(point.interval, "");
  }
}

TEST(MeasuredPoint, TakesTheNewestBaselineOfItsOwnKindOnly) {
  std::vector<CaseResult> results{measured({{{4}}}), baseline({{{1}}}), baseline({{{2}}})};
  for (auto change : std::vector<void (*)(CaseResult&)>{
           [](CaseResult& r) { r.asked.workload = "vgg16"; }, [](CaseResult& r) { r.asked.batch_per_gpu = 64; },
           [](CaseResult& r) { r.asked.image_size = 64; }, [](CaseResult& r) { r.asked.profile = "other"; },
           [](CaseResult& r) { r.asked.evidence = Evidence::emulated; },
           [](CaseResult& r) { r.status = CaseStatus::failed; }}) {
    results.push_back(baseline({{{3}}}));
    change(results.back());
  }
  EXPECT_THAT(make_points(results).front().efficiency, Optional(0.5));
}

TEST(MeasuredPoint, SaysWhyItHasNoEfficiency) {
  CaseResult elsewhere = baseline({{{1}}});
  elsewhere.asked.machine = "0123456789abcdef";
  const std::vector<Point> points = make_points({measured({{{2}}}), elsewhere});
  EXPECT_EQ(points[0].efficiency, std::nullopt);
  EXPECT_THAT(points[0].no_baseline, HasSubstr("another machine"));
  EXPECT_EQ(points[0].throughput, 64);
  EXPECT_EQ(points[1].no_baseline, "") << "it is its own";
  EXPECT_EQ(make_points({of(Evidence::simulated, {figure("step_seconds", 1)})})[0].no_baseline, "");
}

TEST(MeasuredPoint, TakesABaselineThatIsNotAmongTheResults) {
  EXPECT_THAT(make_points({measured({{{4}}})}, {baseline({{{2}}})}).front().efficiency, Optional(0.5));
}

TEST(SimulatedPoint, TurnsThePessimisticStepIntoTheLowEfficiency) {
  const Point point =
      make_points({of(Evidence::simulated, {figure("step_seconds", 0.5), figure("step_seconds_low", 0.4),
                                            figure("step_seconds_high", 0.8), figure("baseline_throughput", 128)})})
          .front();
  EXPECT_DOUBLE_EQ(point.throughput, 256);
  EXPECT_THAT(point.efficiency, Optional(DoubleEq(0.5)));
  EXPECT_THAT(point.efficiency_low, Optional(DoubleEq(0.3125)));
  EXPECT_THAT(point.efficiency_high, Optional(DoubleEq(0.625)));
  EXPECT_THAT(point.interval, HasSubstr("90 % band"));
  EXPECT_EQ(point.baseline, "one GPU without communication, 128 samples/s");
}

TEST(SimulatedPoint, KeepsTheLedgerOfItsStep) {
  CaseResult result{.asked = example_case(Evidence::simulated)};
  result.samples = {figure("step_seconds", 0.5), figure("ledger/compute", 0.375), figure("ledger/exposed", 0.125)};
  EXPECT_EQ(make_points({result}).at(0).ledger,
            (std::map<std::string, double>{{"compute", 0.375}, {"exposed", 0.125}}));
}

TEST(SimulatedPoint, HasNoEfficiencyWithoutABaseline) {
  const Point point = make_points({of(Evidence::simulated, {figure("step_seconds", 0.5)})}).front();
  EXPECT_DOUBLE_EQ(point.throughput, 256);
  EXPECT_EQ(point.efficiency, std::nullopt);
}

TEST(PublishedPoint, ComputesTheEfficiencyThatIsNotPrinted) {
  const Point point =
      make_points({of(Evidence::published, {figure("throughput", 300), figure("baseline_throughput", 100)})}).front();
  EXPECT_THAT(point.efficiency, Optional(DoubleEq(0.75)));
  EXPECT_DOUBLE_EQ(point.step_seconds, 128 / 300.0);
  EXPECT_EQ(point.baseline, "one GPU as published, 100 samples/s");
}

TEST(PublishedPoint, KeepsWhatIsPrintedEvenWhereItDoesNotAddUp) {
  const Point point = make_points({of(Evidence::published, {figure("throughput", 300), figure("efficiency", 0.8),
                                                            figure("baseline_throughput", 100)})})
                          .front();
  EXPECT_EQ(point.throughput, 300);
  EXPECT_THAT(point.efficiency, Optional(0.8));
  EXPECT_EQ(point.samples, 2u);
}

TEST(PublishedPoint, ComputesTheThroughputFromTheEfficiencyIfThereIsABaseline) {
  EXPECT_DOUBLE_EQ(
      make_points({of(Evidence::published, {figure("efficiency", 0.9), figure("baseline_throughput", 100)})})[0]
          .throughput,
      360);
  const Point bare = make_points({of(Evidence::published, {figure("efficiency", 0.9)})}).front();
  EXPECT_EQ(bare.throughput, 0);
  EXPECT_EQ(bare.step_seconds, 0);
  EXPECT_THAT(bare.efficiency, Optional(0.9));
}

TEST(FailedPoint, KeepsItsReasonAndHasNoFigures) {
  CaseResult result = measured({{{1}, {2}}});
  result.status = CaseStatus::failed;
  result.failure = "rank 3 was killed";
  const Point point = make_points({result, baseline({{{1}}})}).front();
  EXPECT_TRUE(point.failed);
  EXPECT_EQ(point.failure, "rank 3 was killed");
  EXPECT_EQ(point.throughput, 0);
  EXPECT_EQ(point.efficiency, std::nullopt);
}

TEST(Points, ComeInTheOrderOfTheResultsAndSurviveCasesWithoutSamples) {
  const std::vector<CaseResult> results{of(Evidence::published, {}), of(Evidence::emulated, {}),
                                        of(Evidence::simulated, {}), of(Evidence::measured, {}), baseline({})};
  const std::vector<Point> points = make_points(results);
  ASSERT_EQ(points.size(), results.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].asked.key(), results[i].asked.key());
    EXPECT_EQ(points[i].throughput, 0);
    EXPECT_EQ(points[i].efficiency, std::nullopt);
  }
}

}  // namespace
}  // namespace hbench::points_test
