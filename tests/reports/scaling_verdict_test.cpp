#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/reports/scaling_points.hpp"

namespace hbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(ScalingVerdict, NamesTheBestAndTheWorstNetworkWithEitherSideOnThem) {
  const std::string verdict =
      verdict_on({simulated("vgg16", "fast", 128, kRing, 0.9449), simulated("vgg16", "slow", 128, kRing, 0.41),
                  simulated("vgg16", "fast", 128, kServers, 0.3), simulated("vgg16", "slow", 128, kServers, 0.004),
                  simulated("vgg16", "slow", 256 / 4, kServers, 0.001)});
  EXPECT_THAT(verdict,
              StartsWith("Simulated: at 128 GPUs VGG-16 keeps 94 % of ideal speed with ring all-reduce on Fast "
                         "cloud (200 Gbit/s), 30 % with co-located parameter servers that hold whole tensors"));
  EXPECT_THAT(verdict, HasSubstr("; on 10 GbE, 41 % with ring, 0.4 % with servers (greedy, colocated)."));
  EXPECT_THAT(verdict, HasSubstr("All-reduce is ahead on 2 of 2 networks, servers on none."));
}

TEST(ScalingVerdict, TakesTheWorkloadWithTheWidestSpread) {
  const std::string verdict =
      verdict_on({simulated("resnet50", "fast", 8, kRing, 0.99), simulated("resnet50", "slow", 8, kRing, 0.8),
                  simulated("vgg16", "fast", 8, kRing, 0.9), simulated("vgg16", "slow", 8, kRing, 0.5)});
  EXPECT_THAT(verdict, HasSubstr("VGG-16 keeps 90 % of ideal speed with ring all-reduce on Fast cloud (200 Gbit/s)"));
  EXPECT_THAT(verdict, HasSubstr("50 % on 10 GbE."));
  EXPECT_THAT(verdict, Not(HasSubstr("ahead"))) << "there is one side only";
}

/// A configuration that nobody would choose makes no workload interesting.
TEST(ScalingVerdict, MeasuresTheSpreadBetweenBestConfigurations) {
  EXPECT_THAT(
      verdict_on({simulated("resnet50", "slow", 8, kRing, 0.9),
                  simulated("resnet50", "slow", 8, kColocatedServers, 0.6), simulated("vgg16", "slow", 8, kRing, 0.9),
                  simulated("vgg16", "slow", 8, kColocatedServers, 0.8),
                  simulated("vgg16", "slow", 8, kServers, 0.01)}),
      HasSubstr("ResNet-50 keeps 90 %"));
}

TEST(ScalingVerdict, ComparesEachSideByItsBestConfiguration) {
  Strategy tree = kRing, few = kDedicatedServers, many = kDedicatedServers;
  tree.algorithm = "tree";
  few.servers = 2;
  many.servers = 8;
  const std::string verdict =
      verdict_on({simulated("vgg16", "slow", 8, kServers, 0.004), simulated("vgg16", "slow", 8, few, 0.2),
                  simulated("vgg16", "slow", 8, many, 0.34), simulated("vgg16", "slow", 8, kColocatedServers, 0.3),
                  simulated("vgg16", "slow", 8, kRing, 0.25), simulated("vgg16", "slow", 8, tree, 0.28)});
  EXPECT_THAT(verdict, HasSubstr("34 % of ideal speed with 8 dedicated parameter servers that hold slices of tensors"));
  EXPECT_THAT(verdict, HasSubstr("28 % with tree all-reduce"));
  EXPECT_THAT(verdict, HasSubstr("Servers are ahead."));
  for (const char* unfair : {"0.4 %", "20 %", "25 %", "30 %"}) EXPECT_THAT(verdict, Not(HasSubstr(unfair)));
}

TEST(ScalingVerdict, SaysWhereServersAreAheadAndWhereMost) {
  const std::string verdict =
      verdict_on({simulated("vgg16", "fast", 8, kRing, 0.95), simulated("vgg16", "fast", 8, kColocatedServers, 0.8),
                  simulated("vgg16", "a", 8, kRing, 0.5), simulated("vgg16", "a", 8, kColocatedServers, 0.9),
                  simulated("vgg16", "b", 8, kRing, 0.6), simulated("vgg16", "b", 8, kColocatedServers, 0.7),
                  simulated("vgg16", "slow", 8, kRing, 0.3), simulated("vgg16", "slow", 8, kColocatedServers, 0.305)});
  EXPECT_THAT(verdict, HasSubstr("All-reduce is ahead on 1 of 4 networks, servers on 2 (most on a: 90 % against 50 %), "
                                 "neither clearly on 1."));
}

TEST(ScalingVerdict, CallsTheSidesLevelWithinAPointOrWhereIntervalsOverlap) {
  EXPECT_THAT(verdict_on({simulated("vgg16", "slow", 8, kRing, 0.5), simulated("vgg16", "slow", 8, kServers, 0.495)}),
              HasSubstr("Neither is clearly ahead."));
  EXPECT_THAT(verdict_on({simulated("vgg16", "slow", 8, kRing, 0.5), simulated("vgg16", "slow", 8, kServers, 0.489)}),
              HasSubstr("All-reduce is ahead."));
  // Intervals: 0.77 to 0.82 and 0.73 to 0.78, then 0.71 to 0.76.
  EXPECT_THAT(verdict_on({measured(2, kRing, 0.8), measured(2, kServers, 0.76)}),
              HasSubstr("Neither is clearly ahead."));
  EXPECT_THAT(verdict_on({measured(2, kRing, 0.8), measured(2, kServers, 0.74)}), HasSubstr("All-reduce is ahead."));
}

TEST(ScalingVerdict, GivesTheBandsOfPredictionsAndNamesNoWinnerWhereTheyOverlap) {
  Point ring = simulated("vgg16", "slow", 8, kRing, 0.5), servers = simulated("vgg16", "slow", 8, kServers, 0.3);
  ring.efficiency_low = 0.4;
  ring.efficiency_high = 0.6;
  servers.efficiency_low = 0.1;
  servers.efficiency_high = 0.45;
  EXPECT_THAT(verdict_on({ring, servers}), testing::AllOf(HasSubstr("50 % (40 to 60)"), HasSubstr("30 % (10 to 45)"),
                                                          HasSubstr("Neither is clearly ahead.")));
  servers.efficiency_high = 0.35;
  EXPECT_THAT(verdict_on({ring, servers}), HasSubstr("All-reduce is ahead."));
}

TEST(ScalingVerdict, ComparesOnlyPointsOfOneBatch) {
  Point large = simulated("vgg16", "slow", 8, kServers, 0.99);
  large.asked.batch_per_gpu = 256;
  EXPECT_THAT(verdict_on({large, simulated("vgg16", "slow", 8, kRing, 0.5)}), Not(HasSubstr("ahead")));
}

TEST(ScalingVerdict, ComparesOnlyPointsOfOneDeviceAndPrecision) {
  for (const TrainingTask& task : {TrainingTask{.device = "gpu"}, TrainingTask{.precision = "bf16"}}) {
    Point other = measured(2, kServers, 0.9);
    other.asked.training = task;
    EXPECT_THAT(verdict_on({other, measured(2, kRing, 0.5)}), Not(HasSubstr("ahead")));
  }
}

TEST(ScalingVerdict, LeavesCompressionOutWhereTheSideHasAnythingElse) {
  const std::string verdict =
      verdict_on({simulated("vgg16", "slow", 8, kRingFp16, 0.95), simulated("vgg16", "slow", 8, kRing, 0.9),
                  simulated("vgg16", "slow", 8, kServers, 0.2)});
  EXPECT_THAT(verdict, HasSubstr("keeps 90 % of ideal speed with ring all-reduce on 10 GbE"));
  EXPECT_THAT(verdict, Not(HasSubstr("fp16")));
  EXPECT_THAT(verdict_on({simulated("vgg16", "slow", 8, kRingFp16, 0.95),
                          simulated("vgg16", "slow", 8, kDedicatedServers, 0.97)}),
              AllOf(HasSubstr("97 % of ideal speed with dedicated parameter servers that hold slices of tensors"),
                    HasSubstr("95 % with ring all-reduce and fp16 gradients")));
}

TEST(ScalingVerdict, NamesTheLeastEfficientStrategyWhereThereIsOneSideOnly) {
  EXPECT_THAT(
      verdict_on({simulated("vgg16", "slow", 8, kColocatedServers, 0.9), simulated("vgg16", "slow", 8, kServers, 0.2)}),
      HasSubstr("; with co-located parameter servers that hold whole tensors, 20 %."));
  const std::string there =
      verdict_on({simulated("vgg16", "fast", 8, kRing, 0.9), simulated("vgg16", "fast", 8, kRingFp16, 0.1),
                  simulated("vgg16", "slow", 8, kRing, 0.5), simulated("vgg16", "slow", 8, kRingFp16, 0.3)});
  EXPECT_THAT(there, HasSubstr("with ring all-reduce and fp16 gradients, 30 % there."));
}

TEST(ScalingVerdict, SaysLessWhenThereIsLess) {
  EXPECT_EQ(verdict_on({simulated("vgg16", "unknown", 4, kRing, 0.9)}),
            "Simulated: at 4 GPUs VGG-16 keeps 90 % of ideal speed with ring all-reduce on unknown.");
}

TEST(ScalingVerdict, CountsRanksAndGivesIntervalsForMeasuredPoints) {
  const std::vector<Point> points{measured(1, kNone, 1), measured(2, kRing, 0.8), measured(2, kServers, 0.6)};
  EXPECT_THAT(verdict_on(points),
              StartsWith("Measured: at 2 ranks ResNet-18 at 64x64 keeps 80 % (77 to 82) of ideal speed with ring "
                         "all-reduce on this machine, 60 % (57 to 62) with co-located parameter servers"));
  EXPECT_EQ(reason_for(points), "Measured on this machine: 3 launches, 30 iterations.");
}

TEST(ScalingVerdict, PrefersWhatWasMeasuredAtTheSameCountAndWhatReachesMore) {
  const Point timed = measured(8, kRing, 0.7);
  Point emulated = simulated("vgg16", "slow", 8, kRing, 0.6);
  emulated.asked.evidence = Evidence::emulated;
  const Point model = simulated("vgg16", "slow", 8, kRing, 0.2), larger = simulated("vgg16", "slow", 9, kRing, 0.5);
  EXPECT_THAT(verdict_on({model, emulated, timed}), StartsWith("Measured: at 8 ranks"));
  EXPECT_THAT(verdict_on({model, emulated}), StartsWith("Emulated: at 8 GPUs"));
  EXPECT_THAT(verdict_on({model, emulated, timed, larger}), StartsWith("Simulated: at 9 GPUs"));
}

TEST(ScalingVerdict, NamesTheGpuOfEachNetworkWhereItsTitleDoesNot) {
  ReportInput input = input_of({simulated("vgg16", "fast", 8, kRing, 0.9), simulated("vgg16", "slow", 8, kRing, 0.5),
                                simulated("vgg16", "other", 8, kRing, 0.7)});
  input.profile_titles["other"] = "V100 cloud, 10 GbE";
  input.profile_gpus = {{"fast", "A100"}, {"slow", "RTX 2080 Ti"}, {"other", "V100 SXM2"}};
  const Document document = kScalingReport.build(input);
  const std::string verdict = plain(std::get<Verdict>(document.blocks.at(0)).text);
  EXPECT_THAT(verdict, HasSubstr("on Fast cloud (200 Gbit/s, A100)"));
  EXPECT_THAT(verdict, HasSubstr("on 10 GbE (RTX 2080 Ti)"));
  EXPECT_THAT(shown_labels(all_of<ChartGroup>(document).at(0).charts.at(0)),
              ElementsAre("ideal", "ring on Fast cloud (A100)", "ring on 10 GbE (RTX 2080 Ti)", "ring on V100 cloud"));
}

TEST(ScalingVerdict, HasNothingToScaleOnOneGpu) {
  EXPECT_EQ(verdict_on({simulated("vgg16", "slow", 1, kRing, 1)}),
            "With 1 GPU nothing is exchanged, so there is nothing to scale yet; ask for more, such as --gpus 1..8.");
}

TEST(ScalingVerdict, FallsBackToSpeedWithoutABaseline) {
  Point slow = simulated("vgg16", "slow", 8, kRing, 0.5), fast = simulated("vgg16", "fast", 8, kRing, 0.75);
  slow.efficiency.reset();
  fast.efficiency.reset();
  EXPECT_EQ(verdict_on({slow, fast}),
            "No efficiency is known: no point has a baseline; the fastest is VGG-16 with ring all-reduce on Fast cloud "
            "(200 Gbit/s), 8 GPUs: 600 samples/s (simulated).");
}

TEST(ScalingVerdict, SaysWhyTheFastestHasNoEfficiencyThoughAProcessByItselfIsFaster) {
  Point alone = simulated("vgg16", "slow", 1, {.algorithm = "none"}, 1),
        ring = simulated("vgg16", "slow", 8, kRing, 0.1);
  alone.efficiency.reset();
  ring.efficiency.reset();
  ring.no_baseline = "the baseline was measured on another machine";
  ring.throughput = alone.throughput / 2;
  EXPECT_THAT(verdict_on({alone, ring}),
              AllOf(StartsWith("No efficiency is known: the baseline was measured on another machine; "),
                    HasSubstr("VGG-16 with ring all-reduce")));
}

TEST(ScalingVerdict, UsesPublishedFiguresOnlyWhereThereIsNothingElse) {
  const Point theirs = published("slow", 512, kRing, 0.5);
  EXPECT_THAT(verdict_on({theirs, simulated("vgg16", "slow", 4, kRing, 0.9)}), StartsWith("Simulated: at 4 GPUs"));
  EXPECT_EQ(verdict_on({theirs}),
            "Published: at 512 GPUs VGG-16 keeps 50 % of ideal speed with ring all-reduce on 10 GbE.");
  EXPECT_EQ(reason_for({theirs}), "As published elsewhere; nothing was simulated or measured.");
}

TEST(ScalingVerdict, IgnoresEfficienciesThatAreNoNumbers) {
  EXPECT_EQ(verdict_on({simulated("vgg16", "slow", 4, kRing, 0.9),
                        simulated("vgg16", "slow", 8, kRing, std::numeric_limits<double>::quiet_NaN())}),
            "Simulated: at 4 GPUs VGG-16 keeps 90 % of ideal speed with ring all-reduce on 10 GbE.");
}

TEST(ScalingVerdict, IsFollowedByTheErrorOfEachAlgorithm) {
  EXPECT_EQ(reason_for({simulated("vgg16", "slow", 8, kServers, 0.3), published("slow", 8, kServers, 0.5),
                        simulated("vgg16", "slow", 4, kRing, 0.9), published("slow", 4, kRing, 0.88),
                        simulated("vgg16", "slow", 8, kRing, 0.7), published("slow", 8, kRing, 0.74)}),
            "Simulated; the mean error against published figures of these workloads is 3.0 percentage points for ring "
            "all-reduce (2 figures, largest 4.0), 20.0 for parameter servers (1 figure, largest 20.0).");
  EXPECT_EQ(reason_for({simulated("vgg16", "slow", 8, kServers, 0.3)}),
            "Simulated; no published figure was found to compare it with.");
}

TEST(ScalingVerdict, TellsErrorsOnFiguresThatCalibratedTheModelApart) {
  ReportInput input = input_of({simulated("vgg16", "slow", 4, kRing, 0.9), published("slow", 4, kRing, 0.88),
                                simulated("vgg16", "slow", 8, kRing, 0.7), published("slow", 8, kRing, 0.74)});
  const auto reason = [&] { return std::get<Paragraph>(kScalingReport.build(input).blocks.at(1)).text; };
  ASSERT_EQ(input.comparisons.size(), 2);
  input.comparisons[0].calibrated = true;
  EXPECT_EQ(reason(),
            "Simulated; the mean error against published figures of these workloads is 4.0 percentage points for ring "
            "all-reduce (1 figure, largest 4.0); on those that it was calibrated with, 2.0 percentage points for ring "
            "all-reduce (1 figure, largest 2.0).");
  input.comparisons[1].calibrated = true;
  EXPECT_EQ(reason(),
            "Simulated; the model was calibrated with all published figures of these workloads: its mean error on them "
            "is 3.0 percentage points for ring all-reduce (2 figures, largest 4.0).");
}

TEST(ScalingVerdict, SaysOfABaselineAloneThatNothingWasCommunicated) {
  Point alone = measured(1, kNone, 1);
  alone.efficiency.reset();
  EXPECT_THAT(verdict_on({alone}), testing::HasSubstr("the fastest is ResNet-18 at 64x64 without communication on this "
                                                      "machine, 1 rank: "));
}

}  // namespace
}  // namespace hbench
