#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "collectives/base/error.hpp"
#include "reports/formats/formats.hpp"
#include "reports/report.hpp"
#include "reports/scaling/words.hpp"
#include "tests/reports/document_parts.hpp"

namespace hbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const Strategy kRing{.algorithm = "ring", .compressor = "none", .fusion = "horovod"};
const Strategy kRingFp16{.algorithm = "ring", .compressor = "fp16", .fusion = "horovod"};
const Strategy kServers{
    .algorithm = "ps", .placement = "greedy", .server_mode = "colocated", .compressor = "none", .fusion = "none"};
const Strategy kDedicated{
    .algorithm = "ps", .placement = "sliced", .server_mode = "dedicated", .compressor = "none", .fusion = "none"};
const Strategy kColocated{
    .algorithm = "ps", .placement = "sliced", .server_mode = "colocated", .compressor = "none", .fusion = "none"};
const Strategy kNone{.algorithm = "none"};

Point point(Evidence evidence, const std::string& workload, const std::string& profile, int gpus,
            const Strategy& strategy, double efficiency) {
  Point result;
  result.asked = {.evidence = evidence,
                  .workload = workload,
                  .gpus = gpus,
                  .strategy = strategy,
                  .profile = profile,
                  .batch_per_gpu = 32};
  result.efficiency = efficiency;
  result.throughput = 100 * gpus * efficiency;
  result.throughput_per_gpu = 100 * efficiency;
  result.step_seconds = 32 / result.throughput_per_gpu;
  return result;
}

Point simulated(const std::string& workload, const std::string& profile, int gpus, const Strategy& strategy,
                double efficiency) {
  return point(Evidence::simulated, workload, profile, gpus, strategy, efficiency);
}

Point published(const std::string& profile, int gpus, const Strategy& strategy, double efficiency) {
  Point result = point(Evidence::published, "vgg16", profile, gpus, strategy, efficiency);
  result.asked.source = "a paper";
  return result;
}

Point measured(int ranks, const Strategy& strategy, double efficiency) {
  Point result = point(Evidence::measured, "resnet18", "local", ranks, strategy, efficiency);
  result.asked.image_size = 64;
  result.efficiency_low = efficiency - 0.03;
  result.efficiency_high = efficiency + 0.02;
  result.baseline = "one process without communication, 100 samples/s";
  result.launches = 3;
  result.iterations = 30;
  return result;
}

Point failure(const std::string& reason) {
  Point result = point(Evidence::measured, "resnet18", "local", 2, kRing, 0);
  result.efficiency.reset();
  result.throughput = 0;
  result.failed = true;
  result.failure = reason;
  return result;
}

ReportInput input_of(std::vector<Point> points) {
  ReportInput input;
  input.points = std::move(points);
  input.comparisons = compare_with_published(input.points);
  input.predictions = compare_with_measured(input.points);
  input.profile_titles = {{"fast", "Fast cloud, 8 x A100, 200 Gbit/s"}, {"slow", "4 GPUs per node, 10 GbE"}};
  input.workload_titles = {{"vgg16", "VGG-16"}, {"resnet50", "ResNet-50"}, {"resnet18", "ResNet-18"}};
  return input;
}

Document report_on(std::vector<Point> points) { return kScalingReport.build(input_of(std::move(points))); }

/// No-break spaces as plain ones, so that expectations can be read.
std::string plain(std::string text) {
  for (std::size_t at = 0; (at = text.find("\u00a0", at)) != std::string::npos;) text.replace(at, 2, " ");
  return text;
}

std::string verdict_on(std::vector<Point> points) {
  return plain(std::get<Verdict>(report_on(std::move(points)).blocks.at(0)).text);
}

/// The sentence after the verdict.
std::string reason_for(std::vector<Point> points) {
  return std::get<Paragraph>(report_on(std::move(points)).blocks.at(1)).text;
}

/// The rows of the table with this caption; none when there is no such table.
std::vector<std::vector<std::string>> rows_of(const Document& document, const std::string& caption) {
  for (const Table& table : all_of<Table>(document))
    if (table.caption == caption) return table.rows;
  return {};
}

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
      verdict_on({simulated("resnet50", "slow", 8, kRing, 0.9), simulated("resnet50", "slow", 8, kColocated, 0.6),
                  simulated("vgg16", "slow", 8, kRing, 0.9), simulated("vgg16", "slow", 8, kColocated, 0.8),
                  simulated("vgg16", "slow", 8, kServers, 0.01)}),
      HasSubstr("ResNet-50 keeps 90 %"));
}

TEST(ScalingVerdict, ComparesEachSideByItsBestConfiguration) {
  Strategy tree = kRing, few = kDedicated, many = kDedicated;
  tree.algorithm = "tree";
  few.servers = 2;
  many.servers = 8;
  const std::string verdict =
      verdict_on({simulated("vgg16", "slow", 8, kServers, 0.004), simulated("vgg16", "slow", 8, few, 0.2),
                  simulated("vgg16", "slow", 8, many, 0.34), simulated("vgg16", "slow", 8, kColocated, 0.3),
                  simulated("vgg16", "slow", 8, kRing, 0.25), simulated("vgg16", "slow", 8, tree, 0.28)});
  EXPECT_THAT(verdict, HasSubstr("34 % of ideal speed with 8 dedicated parameter servers that hold slices of tensors"));
  EXPECT_THAT(verdict, HasSubstr("28 % with tree all-reduce"));
  EXPECT_THAT(verdict, HasSubstr("Servers are ahead."));
  for (const char* unfair : {"0.4 %", "20 %", "25 %", "30 %"}) EXPECT_THAT(verdict, Not(HasSubstr(unfair)));
}

TEST(ScalingVerdict, SaysWhereServersAreAheadAndWhereMost) {
  const std::string verdict =
      verdict_on({simulated("vgg16", "fast", 8, kRing, 0.95), simulated("vgg16", "fast", 8, kColocated, 0.8),
                  simulated("vgg16", "a", 8, kRing, 0.5), simulated("vgg16", "a", 8, kColocated, 0.9),
                  simulated("vgg16", "b", 8, kRing, 0.6), simulated("vgg16", "b", 8, kColocated, 0.7),
                  simulated("vgg16", "slow", 8, kRing, 0.3), simulated("vgg16", "slow", 8, kColocated, 0.305)});
  EXPECT_THAT(verdict,
              HasSubstr("All-reduce is ahead on 1 of 4 networks, servers on 2, most on a: 90 % against 50 %."));
}

TEST(ScalingVerdict, CallsTheSidesLevelWithinAPointOrWhereIntervalsOverlap) {
  EXPECT_THAT(verdict_on({simulated("vgg16", "slow", 8, kRing, 0.5), simulated("vgg16", "slow", 8, kServers, 0.495)}),
              HasSubstr("The two are level."));
  EXPECT_THAT(verdict_on({simulated("vgg16", "slow", 8, kRing, 0.5), simulated("vgg16", "slow", 8, kServers, 0.489)}),
              HasSubstr("All-reduce is ahead."));
  // Intervals: 0.77 to 0.82 and 0.73 to 0.78, then 0.71 to 0.76.
  EXPECT_THAT(verdict_on({measured(2, kRing, 0.8), measured(2, kServers, 0.76)}), HasSubstr("The two are level."));
  EXPECT_THAT(verdict_on({measured(2, kRing, 0.8), measured(2, kServers, 0.74)}), HasSubstr("All-reduce is ahead."));
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
  EXPECT_THAT(
      verdict_on({simulated("vgg16", "slow", 8, kRingFp16, 0.95), simulated("vgg16", "slow", 8, kDedicated, 0.97)}),
      AllOf(HasSubstr("97 % of ideal speed with dedicated parameter servers that hold slices of tensors"),
            HasSubstr("95 % with ring all-reduce and fp16 gradients")));
}

TEST(ScalingVerdict, NamesTheLeastEfficientStrategyWhereThereIsOneSideOnly) {
  EXPECT_THAT(
      verdict_on({simulated("vgg16", "slow", 8, kColocated, 0.9), simulated("vgg16", "slow", 8, kServers, 0.2)}),
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
  Point alone = simulated("vgg16", "slow", 1, {.algorithm = "none"}, 1), ring = simulated("vgg16", "slow", 8, kRing, 0.1);
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

TEST(ScalingReport, OfNothingSaysSo) {
  const Document document = report_on({});
  EXPECT_EQ(std::get<Verdict>(document.blocks.at(0)).text, "There are no results yet.");
  EXPECT_THAT(all_of<ChartGroup>(document), IsEmpty());
  for (const Format* format : {&kHtmlFormat, &kMarkdownFormat, &kTextFormat})
    EXPECT_THAT(format->render(document), HasSubstr("There are no results yet."));
}

TEST(ScalingReport, OfFailuresOnlyHasTheirReasonsAndNoCharts) {
  EXPECT_EQ(verdict_on({failure("rank 1 was lost")}), "The only case failed: there is nothing to show.");
  const Document document = report_on({failure("rank 1 was lost"), failure("")});
  EXPECT_EQ(std::get<Verdict>(document.blocks.at(0)).text, "All 2 cases failed: there is nothing to show.");
  EXPECT_THAT(std::get<Table>(document.blocks.at(1)).rows,
              ElementsAre(ElementsAre("ResNet-18", "measured", "this machine", "2", "ring", "rank 1 was lost"),
                          ElementsAre("ResNet-18", "measured", "this machine", "2", "ring", "no reason given")));
  EXPECT_THAT(all_of<ChartGroup>(document), IsEmpty());
}

TEST(ScalingReport, MentionsFailuresInTheVerdictAndListsThemBelowIt) {
  const Document document = report_on({simulated("vgg16", "slow", 4, kRing, 0.9), failure("out of time")});
  EXPECT_EQ(plain(std::get<Verdict>(document.blocks.at(0)).text),
            "Simulated: at 4 GPUs VGG-16 keeps 90 % of ideal speed with ring all-reduce on 10 GbE. 1 of 2 cases "
            "failed; the reasons "
            "are below.");
  EXPECT_EQ(std::get<Table>(document.blocks.at(2)).caption, "Failed cases");
}

TEST(ScalingCharts, HaveOneSeriesPerStrategyAndNetworkByRisingGpus) {
  const Document document =
      report_on({simulated("vgg16", "slow", 8, kRing, 0.5), simulated("vgg16", "slow", 2, kRing, 0.8),
                 simulated("vgg16", "fast", 2, kRing, 0.9), published("slow", 8, kRing, 0.45)});
  const Chart chart = all_of<ChartGroup>(document).at(0).charts.at(0);
  EXPECT_EQ(chart.id, "efficiency-vgg16");
  ASSERT_THAT(shown_labels(chart),
              ElementsAre("ideal", "ring on 10 GbE", "ring on Fast cloud", "ring on 10 GbE (published)"));
  const Series& slow = chart.series[1];
  ASSERT_EQ(slow.points.size(), 2u);
  EXPECT_EQ(slow.points[0].x, 2);
  EXPECT_EQ(slow.points[0].y, 0.8);
  EXPECT_EQ(slow.points[1].x, 8);
  EXPECT_EQ(chart.series[3].group, slow.group);
  EXPECT_EQ(chart.series[3].family, slow.family);
  EXPECT_EQ(chart.series[3].mark, Mark::published);
  EXPECT_EQ(chart.series[0].points.at(1).x, 8);
}

TEST(ScalingCharts, LeaveBaselinesOutAndShowEfficienciesBeyondOneHundredPerCent) {
  const Document document = report_on({measured(1, kNone, 1), measured(2, kRing, 1.13)});
  const Chart chart = all_of<ChartGroup>(document).at(0).charts.at(0);
  EXPECT_THAT(shown_labels(chart), ElementsAre("ideal", "ring on this machine (measured)"));
  EXPECT_EQ(chart.x_title, "Ranks");
  EXPECT_DOUBLE_EQ(chart.y_max.value(), 1.2);
}

TEST(ScalingCharts, GivePublishedVariantsTheColourOfTheirStrategy) {
  Strategy variant = kRing;
  variant.fusion = "horovod-2018:64MiB:5ms";
  const Document document = report_on({simulated("vgg16", "slow", 8, kRing, 0.5), published("slow", 8, variant, 0.45)});
  const Chart chart = all_of<ChartGroup>(document).at(0).charts.at(0);
  EXPECT_EQ(chart.series.at(2).label, "ring, horovod-2018 on 10 GbE (published)");
  EXPECT_EQ(chart.series.at(2).group, chart.series.at(1).group);
}

TEST(ScalingCharts, ShowTheHeadlinesStrategiesOnTheNetworksThatTellMost) {
  std::vector<Point> points{published("c", 8, kRing, 0.6), published("b", 8, kDedicated, 0.6),
                            published("c", 8, kServers, 0.3)};
  double efficiency = 0.9;
  for (const char* network : {"a", "b", "c", "d"}) {
    points.push_back(simulated("vgg16", network, 8, kRing, efficiency));
    points.push_back(simulated("vgg16", network, 8, kRingFp16, efficiency + 0.05));
    points.push_back(simulated("vgg16", network, 8, kServers, efficiency - 0.3));
    efficiency -= 0.1;
  }
  const Chart chart = all_of<ChartGroup>(report_on(points)).at(0).charts.at(0);
  EXPECT_THAT(shown_labels(chart),
              ElementsAre("ideal", "ring on a", "ps (greedy, colocated) on a", "ring on c",
                          "ps (greedy, colocated) on c", "ring on d", "ps (greedy, colocated) on d",
                          "ring on c (published)", "ps (greedy, colocated) on c (published)"));
  EXPECT_EQ(chart.series.size(), 16u);
}

/// The verdict compares the best of either side: the chart below it must show these, and what slicing is worth.
TEST(ScalingCharts, ShowTheBestOfEitherSideAndTheServersOfTheOtherPlacement) {
  std::vector<Point> points;
  double ring = 0.9;
  for (const char* network : {"a", "b", "c", "d"}) {
    const double sliced = network == std::string("c") ? 0.95 : ring - 0.1;
    points.push_back(simulated("vgg16", network, 8, kRing, ring));
    points.push_back(simulated("vgg16", network, 8, kServers, 0.01));
    points.push_back(simulated("vgg16", network, 8, kColocated, sliced));
    points.push_back(simulated("vgg16", network, 8, kDedicated, sliced - 0.05));
    // On fewer GPUs another configuration is the best: the chart goes by the most.
    points.push_back(simulated("vgg16", network, 4, kDedicated, 0.99));
    points.push_back(simulated("vgg16", network, 4, kColocated, 0.5));
    ring -= 0.15;
  }
  const Chart chart = all_of<ChartGroup>(report_on(points)).at(0).charts.at(0);
  std::vector<std::string> expected{"ideal"};
  for (const char* network : {"a", "c", "d"})
    for (const char* strategy : {"ring", "ps (greedy, colocated)", "ps (sliced, colocated)"})
      expected.push_back(std::string(strategy) + " on " + network);
  EXPECT_THAT(shown_labels(chart), testing::UnorderedElementsAreArray(expected));
}

TEST(ScalingCharts, HideNothingOfEightLines) {
  std::vector<Point> points;
  for (const char* network : {"a", "b", "c", "d"})
    for (const Strategy& strategy : {kRing, kRingFp16}) points.push_back(simulated("vgg16", network, 8, strategy, 0.5));
  EXPECT_THAT(shown_labels(all_of<ChartGroup>(report_on(points)).at(0).charts.at(0)), testing::SizeIs(1 + 8));
  points.push_back(simulated("vgg16", "e", 8, kRing, 0.4));
  EXPECT_THAT(shown_labels(all_of<ChartGroup>(report_on(points)).at(0).charts.at(0)), testing::SizeIs(1 + 3));
}

TEST(ScalingCharts, TellNumbersOfServersAndBatchesApart) {
  Point few = simulated("vgg16", "slow", 8, kServers, 0.2), many = few,
        large = simulated("vgg16", "slow", 8, kRing, 0.5);
  few.asked.strategy.servers = 1;
  many.asked.strategy.servers = 4;
  large.asked.batch_per_gpu = 64;
  const Document document = report_on({few, many, large, simulated("vgg16", "slow", 8, kRing, 0.4)});
  EXPECT_THAT(
      shown_labels(all_of<ChartGroup>(document).at(0).charts.at(0)),
      ElementsAre("ideal", "ps (greedy, colocated), 1 server on 10 GbE", "ps (greedy, colocated), 4 servers on 10 GbE",
                  "ring on 10 GbE, batch 64", "ring on 10 GbE, batch 32"));
}

TEST(ScalingTables, CompareEitherSideByItsBestOnTheMostGpus) {
  Strategy eight = kDedicated;
  eight.servers = 8;
  const Document document =
      report_on({simulated("vgg16", "slow", 4, kRing, 0.99), simulated("vgg16", "slow", 8, kRing, 0.3),
                 simulated("vgg16", "slow", 8, kServers, 0.01), simulated("vgg16", "slow", 8, eight, 0.5),
                 simulated("vgg16", "fast", 8, kRing, 0.9), simulated("vgg16", "fast", 8, eight, 0.8),
                 simulated("resnet50", "fast", 2, kRing, 0.8)});
  const std::string caption = "All-reduce against parameter servers, each by its best configuration, on the most GPUs";
  EXPECT_THAT(rows_of(document, caption),
              ElementsAre(ElementsAre("VGG-16", "Fast cloud, 200 Gbit/s", "8", "simulated", "ring", "90.0 %",
                                      "8 servers (sliced, dedicated)", "80.0 %", "all-reduce"),
                          ElementsAre("VGG-16", "10 GbE", "8", "simulated", "ring", "30.0 %",
                                      "8 servers (sliced, dedicated)", "50.0 %", "servers"),
                          ElementsAre("ResNet-50", "Fast cloud, 200 Gbit/s", "2", "simulated", "ring", "80.0 %", "-",
                                      "-", "-")));
}

TEST(ScalingWarnings, StandBelowTheVerdictOncePerSentenceWithTheirPoints) {
  Point first = measured(2, kRing, 1.13), second = measured(4, kRing, 0.9), sound = measured(8, kRing, 0.9);
  Point lost = failure("lost");
  first.warnings = {"the machine was busy", "an efficiency above 100 % is not possible"};
  second.warnings = {"the machine was busy"};
  lost.warnings = {"never shown"};
  for (const auto& report : {kScalingReport.build, kScalingReport.build_short}) {
    const Document document = report(input_of({first, second, sound, lost}));
    EXPECT_THAT(std::get<Verdict>(document.blocks.at(0)).text, HasSubstr(" 2 points are doubtful"));
    EXPECT_THAT(std::get<Warnings>(document.blocks.at(2)).texts,
                ElementsAre("ResNet-18 at 64x64, ring on 2 ranks; ResNet-18 at 64x64, ring on 4 ranks: the machine was "
                            "busy",
                            "ResNet-18 at 64x64, ring on 2 ranks: an efficiency above 100 % is not possible"));
  }
  EXPECT_THAT(all_of<Warnings>(report_on({sound})), IsEmpty());
  EXPECT_THAT(verdict_on({sound}), Not(HasSubstr("doubtful")));
}

TEST(ScalingWarnings, NameThreePointsAndCountTheRest) {
  std::vector<Point> points;
  for (int ranks : {2, 3, 4, 5, 6}) points.push_back(measured(ranks, kRing, 0.9));
  for (Point& point : points) point.warnings = {"busy"};
  EXPECT_THAT(all_of<Warnings>(report_on(points)).at(0).texts, ElementsAre(HasSubstr("on 4 ranks and 2 more: busy")));
}

TEST(ScalingTables, PutTheLargestDifferenceFirstAndNameUnpairedFigures) {
  Point speed_only = published("slow", 32, kRing, 0);
  speed_only.efficiency.reset();
  speed_only.throughput = 2744.9;
  const Document document = report_on({simulated("vgg16", "slow", 4, kRing, 0.9), published("slow", 4, kRing, 0.88),
                                       simulated("vgg16", "slow", 8, kRing, 0.7), published("slow", 8, kRing, 0.74),
                                       published("slow", 16, kRing, 0.6), speed_only});
  EXPECT_THAT(rows_of(document, "Simulated against published efficiency, the largest difference first"),
              ElementsAre(ElementsAre("VGG-16", "10 GbE", "8", "ring", "74.0 %", "70.0 %", "-4.0", "no", "a paper"),
                          ElementsAre("VGG-16", "10 GbE", "4", "ring", "88.0 %", "90.0 %", "+2.0", "no", "a paper")));
  EXPECT_THAT(
      rows_of(document, "Published figures without a simulated counterpart"),
      ElementsAre(ElementsAre("VGG-16", "10 GbE", "16", "ring", "960", "60.0 %", "not simulated here", "a paper"),
                  ElementsAre("VGG-16", "10 GbE", "32", "ring", "2745", "-", "no rate of one GPU stated", "a paper")));
}

TEST(ScalingTables, SplitTheStepOnTheMostGpusIntoItsParts) {
  Point large = simulated("vgg16", "slow", 8, kRing, 0.5), small = simulated("vgg16", "slow", 4, kRing, 0.8);
  large.step_seconds = 0.2;
  large.ledger = {{"compute", 0.1}, {"straggler", 0.01}, {"slowdown", 0.02}, {"exposed", 0.07}};
  small.ledger = large.ledger;
  Point elsewhere = simulated("vgg16", "fast", 4, kRing, 0.9);  // a network that is too small for as many
  elsewhere.ledger = large.ledger;
  EXPECT_THAT(
      rows_of(report_on({small, large, elsewhere}), "All workloads, networks and strategies"),
      ElementsAre(ElementsAre("VGG-16", "8", "10 GbE", "ring", "200.0", "50.0 %", "5.0 %", "10.0 %", "35.0 %")));
}

TEST(ScalingTables, ListWhatWasMeasuredWhileAGpuWasHeldBack) {
  Point hot = measured(2, kRing, 0.9), capped = measured(4, kRing, 0.8), free = measured(8, kRing, 0.7);
  hot.throttled = {.iterations = 40, .throttled = 30, .power_capped = 10, .reasons = 0x4 | 0x40};
  capped.throttled = {.iterations = 40, .throttled = 0, .power_capped = 40, .reasons = 0x4};
  free.throttled = {.iterations = 40, .throttled = 0, .power_capped = 0, .reasons = 0x1};
  const std::string caption = "Measured while a GPU was held back: share of the iterations";
  const auto rows = rows_of(report_on({hot, capped, free}), caption);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][2], "2");
  EXPECT_EQ(plain(rows[0][4]), "75.0 %");
  EXPECT_EQ(plain(rows[0][5]), "25.0 %");
  EXPECT_EQ(rows[0][6], "too hot (hardware), power cap");
  EXPECT_EQ(plain(rows[1][4]), "0.0 %");
  EXPECT_EQ(rows[1][6], "power cap");
  EXPECT_THAT(verdict_on({hot, capped, free}), HasSubstr(" 1 point was measured while a GPU was throttled"));
  EXPECT_TRUE(rows_of(report_on({free, measured(2, kRing, 0.9)}), caption).empty());
  EXPECT_THAT(verdict_on({capped, free}), Not(HasSubstr("throttled"))) << "at their power cap large GPUs are well";
}

TEST(ScalingTables, ListMeasuredPointsWithTheirBaselineAndRepetitions) {
  const auto rows = rows_of(report_on({measured(2, kRing, 0.8)}), "");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0], ElementsAre("ResNet-18 at 64x64", "this machine", "2", "ring", "160", "80", "80.0 %",
                                   "77.0 to 82.0 %", "one process without communication, 100 samples/s", "30", "3"));
}

TEST(ScalingTables, GiveASourceOneNumber) {
  Point other = published("slow", 8, kRing, 0.7);
  other.asked.source = "another paper";
  const Document document = report_on({published("slow", 4, kRing, 0.88), other, published("slow", 2, kRing, 0.9)});
  EXPECT_THAT(rows_of(document, "Sources"),
              ElementsAre(ElementsAre("S1", "a paper"), ElementsAre("S2", "another paper")));
  const auto rows = rows_of(document, "3 published points");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].back() + rows[1].back() + rows[2].back(), "S1S2S1");
}

TEST(ScalingCharts, DrawThroughputWithTheIntervalOfTheEfficiency) {
  const Document document = report_on({measured(2, kRing, 0.8)});
  const ChartPoint drawn = all_of<ChartGroup>(document).at(1).charts.at(0).series.at(0).points.at(0);
  EXPECT_EQ(drawn.y, 160);
  EXPECT_DOUBLE_EQ(drawn.low.value(), 154);
  EXPECT_DOUBLE_EQ(drawn.high.value(), 164);
}

TEST(ScalingTables, ListEveryPointThatDidNotFailByEvidenceWithNumberedSources) {
  const Document document =
      report_on({simulated("vgg16", "slow", 4, kRing, 0.9), published("slow", 4, kRing, 0.88), failure("lost")});
  EXPECT_THAT(rows_of(document, "1 simulated point"), testing::SizeIs(1));
  EXPECT_THAT(
      rows_of(document, "1 published point"),
      ElementsAre(ElementsAre("VGG-16", "10 GbE", "ring", "4", "32", "published", "352", "88.0 %", "-", "-", "S1")));
  EXPECT_THAT(rows_of(document, "Sources"), ElementsAre(ElementsAre("S1", "a paper")));
}

TEST(ScalingReport, TellsWhatRanWhere) {
  ReportInput input = input_of({simulated("vgg16", "slow", 4, kRing, 0.9)});
  input.runs = {{.command = "hbench sweep",
                 .version = "0.1.0",
                 .started_at = "2026-01-02T03:04:05Z",
                 .environment = {{"cpu", "x"}}}};
  EXPECT_THAT(
      rows_of(kScalingReport.build(input), "Run of 2026-01-02T03:04:05Z"),
      ElementsAre(ElementsAre("command", "hbench sweep"), ElementsAre("hbench", "0.1.0"), ElementsAre("cpu", "x")));
}

TEST(ScalingReport, KeepsFullTitlesOfNetworksThatWouldReadTheSame) {
  ReportInput input = input_of({simulated("vgg16", "a", 4, kRing, 0.9), simulated("vgg16", "b", 4, kRing, 0.5)});
  input.profile_titles = {{"a", "8 x V100 nodes, 100 GbE"}, {"b", "4 GPUs per node, 100 GbE"}};
  EXPECT_THAT(std::get<Verdict>(kScalingReport.build(input).blocks.at(0)).text,
              HasSubstr("on 8 x V100 nodes (100 GbE), but"));
}

TEST(ScalingReport, SurvivesHostileNames) {
  const std::string hostile = "</script><script>alert(1)</script>|\n`\x1b[31m\xff\"'";
  Point ours = simulated(hostile, hostile, 4, kRing, 0.9), theirs = ours, lost = failure(hostile);
  theirs.asked.evidence = Evidence::published;
  for (Point* point : {&ours, &theirs, &lost}) {
    point->asked.workload = point->asked.profile = point->asked.source = point->baseline = point->interval = hostile;
    point->asked.strategy.algorithm = point->asked.strategy.compressor = point->asked.strategy.fusion = hostile;
    point->asked.strategy.placement = point->asked.strategy.server_mode = hostile;
  }
  ReportInput input = input_of({ours, theirs, lost});
  input.profile_titles[hostile] = input.workload_titles[hostile] = hostile;
  input.runs = {{.command = hostile, .version = hostile, .started_at = hostile, .environment = {{hostile, hostile}}}};
  const Document document = kScalingReport.build(input);
  EXPECT_THAT(kHtmlFormat.render(document), Not(HasSubstr("<script>alert")));
  for (const Format* format : formats()) EXPECT_THAT(format->render(document), Not(HasSubstr("\x1b")));
}

TEST(ScalingWords, PrintFiguresWithTheDigitsThatMatter) {
  EXPECT_EQ(plain(whole_percent(0.0094)), "0.9 %");
  EXPECT_EQ(plain(whole_percent(0.0096)), "1 %");
  EXPECT_EQ(plain(whole_percent(0.054)), "5 %");
  EXPECT_EQ(percent_cell(std::nullopt), "-");
  EXPECT_EQ(rate_cell(0), "-");
  EXPECT_EQ(signed_points(0.031), "+3.1");
  EXPECT_EQ(counted(1, "launch") + counted(2, "launch") + counted(0, "GPU"), "1 launch2 launches0 GPUs");
}

TEST(Reports, AreFoundByNameOrSuggested) {
  EXPECT_EQ(&find_report("scaling"), &kScalingReport);
  try {
    find_report("scalign");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'scaling'"));
  }
}

/// On nodes like this machine.
Point predicted(int ranks, const Strategy& strategy, double efficiency) {
  Point result = simulated("resnet18", "this-machine-fast", ranks, strategy, efficiency);
  result.asked.image_size = 64;
  return result;
}

TEST(Predictions, AreShownBesideWhatWasMeasuredHereAndInOneChartWithIt) {
  const std::vector<Point> points{
      measured(2, kRing, 0.9),  measured(4, kRing, 0.8),      predicted(2, kRing, 0.94),
      predicted(4, kRing, 0.7), predicted(8, kRing, 0.6),     measured(1, kRing, 0.99),
      predicted(1, kRing, 1),   measured(2, kDedicated, 0.5), predicted(2, kDedicated, 0.9)};
  const Document document = report_on(points);
  // The largest first: 0.7 - 0.8 and 0.94 - 0.9. One rank exchanges nothing; dedicated servers are elsewhere.
  EXPECT_THAT(
      rows_of(document, "Simulated against measured efficiency on this machine, the largest difference first"),
      ElementsAre(ElementsAre("ResNet-18 at 64x64", "4", "ring", "80.0 %", "77.0 to 82.0 %", "70.0 %", "-10.0"),
                  ElementsAre("ResNet-18 at 64x64", "2", "ring", "90.0 %", "87.0 to 92.0 %", "94.0 %", "+4.0")));
  EXPECT_THAT(reason_for(points),
              HasSubstr(" On 2 points measured on this machine, none of which calibrated anything, the prediction is "
                        "off by 7.0 percentage points on average and 10.0 at most."));
  for (const ChartGroup& group : all_of<ChartGroup>(document)) EXPECT_EQ(group.charts.size(), 1u);
}

TEST(Predictions, AreNotSpokenOfWhereThereAreNone) {
  const Document document = report_on({measured(2, kRing, 0.9), simulated("vgg16", "fast", 8, kRing, 0.7)});
  for (const Heading& heading : all_of<Heading>(document)) EXPECT_THAT(heading.text, Not(HasSubstr("measured here")));
}

}  // namespace
}  // namespace hbench
