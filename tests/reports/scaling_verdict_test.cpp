
#include <iterator>
#include <limits>
#include <sstream>

#include "tests/reports/scaling_points.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::scaling_verdict_test {
namespace {

/// Both sentences of the verdict.
std::string verdicts_on(std::vector<Point> points) {
  std::string text;
  for (const Verdict& verdict : all_of<Verdict>(report_on(std::move(points))))
    text += (text.empty() ? "" : " ") + plain(verdict.text);
  return text;
}

TEST(ScalingVerdict, SaysWhatIsKeptOnTheHardestAndTheEasiestNetwork) {
  EXPECT_EQ(
      verdicts_on({simulated("vgg16", "fast", 128, kRings, 0.9449), simulated("vgg16", "slow", 128, kRings, 0.41),
                   simulated("vgg16", "fast", 128, kServers, 0.3), simulated("vgg16", "slow", 128, kServers, 0.2),
                   simulated("vgg16", "slow", 64, kServers, 0.001)}),
      "128 GPUs, VGG-16, batch 32: ring keeps 41 % of ideal speed on slow (10 GbE) and 94 % on fast (200 Gbit/s), "
      "simulated. Ring ahead of the best parameter servers on 2 of 2 networks (2.0 to 3.1 times as fast).");
}

TEST(ScalingVerdict, NamesBothWaysWhereTheyDiffer) {
  EXPECT_EQ(verdict_on({simulated("vgg16", "fast", 8, kRings, 0.9), simulated("vgg16", "fast", 8, kServers, 0.5),
                        simulated("vgg16", "slow", 8, kRings, 0.2), simulated("vgg16", "slow", 8, kServers, 0.4)}),
            "8 GPUs, VGG-16, batch 32: parameter servers keep 40 % of ideal speed on slow (10 GbE), ring 90 % on fast "
            "(200 Gbit/s), simulated.");
}

TEST(ScalingVerdict, TakesTheWorkloadWithTheWidestSpread) {
  const std::vector<Point> points{
      simulated("resnet50", "fast", 8, kRings, 0.99), simulated("resnet50", "slow", 8, kRings, 0.8),
      simulated("vgg16", "fast", 8, kRings, 0.9), simulated("vgg16", "slow", 8, kRings, 0.5)};
  EXPECT_EQ(verdicts_on(points),
            "8 GPUs, VGG-16, batch 32: ring keeps 50 % of ideal speed on slow (10 GbE) and 90 % on fast "
            "(200 Gbit/s), simulated.");
  EXPECT_EQ(reason_for(points),
            "Simulated; no published figure was found to compare it with. VGG-16 comes first because networks change "
            "it most.");
}

// 0.94 of 0.85 is within what is not known of a pair, and more than half of it.
TEST(ScalingVerdict, NamesTheOneThatIsLikelyAhead) {
  const std::vector<Point> points{simulated("vgg16", "slow", 8, kRings, 0.85),
                                  simulated("vgg16", "slow", 8, kServers, 0.94)};
  ASSERT_EQ(lead_of(points[1], points[0]).verdict(), LeadVerdict::likely);
  EXPECT_THAT(verdict_on(points), HasSubstr("parameter servers keep 94 % of ideal speed"));
}

/// A configuration that nobody would choose makes no workload interesting.
TEST(ScalingVerdict, MeasuresTheSpreadBetweenBestConfigurations) {
  EXPECT_EQ(verdict_on(
                {simulated("resnet50", "slow", 8, kRings, 0.9),
                 simulated("resnet50", "slow", 8, kColocatedServers, 0.6), simulated("vgg16", "slow", 8, kRings, 0.9),
                 simulated("vgg16", "slow", 8, kColocatedServers, 0.8), simulated("vgg16", "slow", 8, kServers, 0.01)}),
            "8 GPUs, ResNet-50, batch 32: ring keeps 90 % of ideal speed on slow (10 GbE), simulated.");
}

TEST(ScalingVerdict, ComparesEachSideByItsBestConfiguration) {
  Strategy tree = kRings, few = kDedicatedServers, many = kDedicatedServers;
  tree.algorithm = "tree";
  few.servers = 2;
  many.servers = 8;
  EXPECT_EQ(
      verdicts_on({simulated("vgg16", "slow", 8, kServers, 0.004), simulated("vgg16", "slow", 8, few, 0.2),
                   simulated("vgg16", "slow", 8, many, 0.34), simulated("vgg16", "slow", 8, kColocatedServers, 0.3),
                   simulated("vgg16", "slow", 8, kRings, 0.25), simulated("vgg16", "slow", 8, tree, 0.28)}),
      "8 GPUs, VGG-16, batch 32: parameter servers keep 34 % of ideal speed on slow (10 GbE), simulated. The best "
      "parameter "
      "servers are ahead of tree: 1.21 (1.05 to 1.40) times as fast.");
}

TEST(ScalingVerdict, CountsWhereEachWayIsAheadAndWhereTheyAreLevel) {
  EXPECT_EQ(
      verdicts_on({simulated("vgg16", "fast", 8, kRings, 0.95), simulated("vgg16", "fast", 8, kColocatedServers, 0.5),
                   simulated("vgg16", "a", 8, kRings, 0.5), simulated("vgg16", "a", 8, kColocatedServers, 0.9),
                   simulated("vgg16", "b", 8, kRings, 0.6), simulated("vgg16", "b", 8, kColocatedServers, 0.8),
                   simulated("vgg16", "slow", 8, kRings, 0.3), simulated("vgg16", "slow", 8, kColocatedServers, 0.31)}),
      "8 GPUs, VGG-16, batch 32: ring keeps 30 % of ideal speed on slow (10 GbE) and 95 % on fast (200 Gbit/s), "
      "simulated. The "
      "best parameter servers ahead of ring on 2 of 4 networks (1.3 to 1.8 times as fast), level on 1, behind on 1.");
  EXPECT_EQ(verdicts_on({simulated("vgg16", "fast", 8, kRings, 0.95), simulated("vgg16", "fast", 8, kServers, 0.9),
                         simulated("vgg16", "slow", 8, kRings, 0.5), simulated("vgg16", "slow", 8, kServers, 0.48)}),
            "8 GPUs, VGG-16, batch 32: ring keeps 50 % of ideal speed on slow (10 GbE) and 95 % on fast (200 Gbit/s), "
            "simulated. "
            "Ring and the best parameter servers are level on both networks.");
}

// ResNet-101 on 10 GbE, as the default sweep has it: bands overlap by far, and one is ahead all the same.
TEST(ScalingVerdict, ComparesPairsAndNotTheirBands) {
  Point ring = simulated("vgg16", "slow", 8, kRings, 0.452), servers = simulated("vgg16", "slow", 8, kServers, 0.773);
  for (Point* point : {&ring, &servers}) {
    point->efficiency_low = *point->efficiency / 2;
    point->efficiency_high = 1;
    point->ends = {.stated = point->step_seconds,
                   .better = point->step_seconds / 1.5,
                   .worse = point->step_seconds * 2,
                   .exposed = 1};
  }
  EXPECT_EQ(verdicts_on({ring, servers}),
            "8 GPUs, VGG-16, batch 32: parameter servers keep 77 % (39 to 100) of ideal speed on slow (10 GbE), "
            "simulated. The best "
            "parameter servers are ahead of ring: 1.7 (1.5 to 2.0) times as fast.");
}

TEST(ScalingVerdict, CallsTheSidesLevelWithinTheErrorOfAPair) {
  EXPECT_EQ(verdicts_on({simulated("vgg16", "slow", 8, kRings, 0.5), simulated("vgg16", "slow", 8, kServers, 0.47)}),
            "8 GPUs, VGG-16, batch 32: ring keeps 50 % of ideal speed on slow (10 GbE), simulated. Ring and the best "
            "parameter "
            "servers are level: 1.06 (0.92 to 1.23) times as fast.");
  EXPECT_EQ(verdicts_on({measured(2, kRings, 0.8), measured(2, kServers, 0.77)}),
            "2 ranks, ResNet-18 at 64x64, batch 32: ring keeps 80 % (77 to 82) of ideal speed on this machine "
            "(measured). Ring "
            "and the best parameter servers are level: 1.04 (0.94 to 1.15) times as fast.");
  EXPECT_EQ(verdicts_on({measured(2, kRings, 0.8), measured(2, kServers, 0.7)}),
            "2 ranks, ResNet-18 at 64x64, batch 32: ring keeps 80 % (77 to 82) of ideal speed on this machine "
            "(measured). Ring "
            "is ahead of the best parameter servers: 1.14 (1.03 to 1.26) times as fast.");
}

TEST(ScalingVerdict, BeginsASentenceWithAPresetAsItIsTyped) {
  Point ddp = simulated("vgg16", "slow", 8, kRings, 0.5);
  ddp.asked.strategy.preset = "ddp";
  EXPECT_THAT(verdicts_on({ddp, simulated("vgg16", "slow", 8, kServers, 0.47)}),
              HasSubstr("simulated. ddp and the best parameter servers are level"));
}

TEST(ScalingVerdict, SaysWhoIsLikelyAhead) {
  const Point ring = simulated("vgg16", "slow", 8, kRings, 0.5),
              servers = simulated("vgg16", "slow", 8, kServers, 0.45);
  EXPECT_EQ(verdicts_on({ring, servers}),
            "8 GPUs, VGG-16, batch 32: ring keeps 50 % of ideal speed on slow (10 GbE), simulated. Ring is likely "
            "ahead of the "
            "best parameter servers: 1.11 (0.96 to 1.28) times as fast.");
  EXPECT_EQ(verdicts_on({measured(2, kRings, 0.8), measured(2, kServers, 0.76)}),
            "2 ranks, ResNet-18 at 64x64, batch 32: ring keeps 80 % (77 to 82) of ideal speed on this machine "
            "(measured). Ring is likely ahead of the best parameter servers: 1.05 (0.95 to 1.16) times as fast.");
  EXPECT_EQ(verdicts_on({ring, servers, simulated("vgg16", "fast", 8, kRings, 0.9),
                         simulated("vgg16", "fast", 8, kServers, 0.89)}),
            "8 GPUs, VGG-16, batch 32: ring keeps 50 % of ideal speed on slow (10 GbE) and 90 % on fast (200 Gbit/s), "
            "simulated. "
            "Ring likely ahead of the best parameter servers on 1 of 2 networks (1.1 times as fast), level on 1.");
  EXPECT_EQ(verdicts_on({ring, servers, simulated("vgg16", "fast", 8, kRings, 0.9),
                         simulated("vgg16", "fast", 8, kServers, 0.4)}),
            "8 GPUs, VGG-16, batch 32: ring keeps 50 % of ideal speed on slow (10 GbE) and 90 % on fast (200 Gbit/s), "
            "simulated. "
            "Ring ahead of the best parameter servers on 1 of 2 networks (2.2 times as fast), likely on 1.");
}

Strategy ring_with(const std::string& compressor) {
  Strategy strategy = kRings;
  strategy.compressor = compressor;
  return strategy;
}

TEST(ScalingVerdict, OfASweepOverCompressorsNamesTheBestAndWhatItGains) {
  std::vector<Point> points;
  for (const auto& [compressor, efficiency] :
       std::vector<std::pair<std::string, double>>{{"none", 0.3}, {"fp16", 0.5}, {"int8", 0.7}, {"topk:0.01", 0.2}})
    points.push_back(simulated("vgg16", "slow", 8, ring_with(compressor), efficiency));
  EXPECT_EQ(verdicts_on(points),
            "8 GPUs, VGG-16, batch 32: ring + int8 keeps 70 % of ideal speed on slow (10 GbE), simulated. "
            "int8 is ahead of no compression: 2.3 (2.0 to 2.7) times as fast.");
  points.push_back(simulated("vgg16", "slow", 8, kServers, 0.1));
  EXPECT_EQ(verdicts_on(points),
            "8 GPUs, VGG-16, batch 32: ring + int8 keeps 70 % of ideal speed on slow (10 GbE), simulated. int8 is "
            "ahead of no compression: 2.3 (2.0 to 2.7) times as fast.")
      << "it was asked for, whatever else there is";
}

TEST(ScalingVerdict, LeavesTheUsualCompressionOutWhereSidesAreCompared) {
  const std::string verdict =
      verdicts_on({simulated("vgg16", "slow", 8, kRingFp16, 0.95), simulated("vgg16", "slow", 8, kRings, 0.9),
                   simulated("vgg16", "slow", 8, kServers, 0.2)});
  EXPECT_EQ(
      verdict,
      "8 GPUs, VGG-16, batch 32: ring keeps 90 % of ideal speed on slow (10 GbE), simulated. Ring is ahead of the "
      "best parameter servers: 4.5 (3.9 to 5.2) times as fast.");
  EXPECT_EQ(verdicts_on({simulated("vgg16", "slow", 8, kRingFp16, 0.95), simulated("vgg16", "slow", 8, kRings, 0.5)}),
            "8 GPUs, VGG-16, batch 32: ring + fp16 keeps 95 % of ideal speed on slow (10 GbE), simulated. fp16 is "
            "ahead of no compression: 1.9 (1.6 to 2.2) times as fast.");
}

TEST(ScalingVerdict, OfOtherStrategiesNamesTheBestAndTheNext) {
  Strategy tree = kRings, direct = kRings;
  tree.algorithm = "tree";
  direct.algorithm = "direct";
  EXPECT_EQ(
      verdicts_on({simulated("vgg16", "slow", 8, kRings, 0.9), simulated("vgg16", "slow", 8, direct, 0.2),
                   simulated("vgg16", "slow", 8, tree, 0.6)}),
      "8 GPUs, VGG-16, batch 32: ring keeps 90 % of ideal speed on slow (10 GbE), simulated. Ring is ahead of tree: "
      "1.5 (1.3 to 1.7) times as fast.");
}

TEST(ScalingVerdict, ComparesOnlyPointsOfOneBatch) {
  Point large = simulated("vgg16", "slow", 8, kServers, 0.99);
  large.asked.batch_per_gpu = 256;
  EXPECT_EQ(verdicts_on({large, simulated("vgg16", "slow", 8, kRings, 0.5)}),
            "8 GPUs, VGG-16, batch 256: parameter servers keep 99 % of ideal speed on slow (10 GbE), simulated.");
  const Point fast = simulated("vgg16", "fast", 8, kRings, 0.9);
  const Document document = report_on(
      {large, simulated("vgg16", "other", 8, kRings, 0.5), simulated("vgg16", "fast", 8, kServers, 0.4), fast});
  EXPECT_EQ(all_of<Paragraph>(document).front().text,
            "slow is not compared: it has batch 256, and the others batch 32 (--batch gives all the same).");
}

TEST(ScalingVerdict, ComparesOnlyPointsOfOneDeviceAndPrecision) {
  for (const TrainingTask& task : {TrainingTask{.device = "gpu"}, TrainingTask{.precision = "bf16"}}) {
    Point other = measured(2, kServers, 0.9);
    other.asked.training = task;
    EXPECT_EQ(
        verdicts_on({other, measured(2, kRings, 0.5)}),
        "2 ranks, ResNet-18 at 64x64, batch 32: ring keeps 50 % (47 to 52) of ideal speed on this machine (measured).");
  }
}

TEST(ScalingVerdict, SaysLessWhenThereIsLess) {
  EXPECT_EQ(verdicts_on({simulated("vgg16", "unknown", 4, kRings, 0.9)}),
            "4 GPUs, VGG-16, batch 32: ring keeps 90 % of ideal speed on unknown (simulated).");
}

TEST(ScalingVerdict, CountsRanksAndGivesIntervalsForMeasuredPoints) {
  const std::vector<Point> points{measured(1, kAlone, 1), measured(2, kRings, 0.8), measured(2, kServers, 0.6)};
  EXPECT_EQ(
      verdict_on(points),
      "2 ranks, ResNet-18 at 64x64, batch 32: ring keeps 80 % (77 to 82) of ideal speed on this machine (measured).");
  EXPECT_EQ(reason_for(points), "Measured on this machine: 3 launches, 30 iterations.");
}

TEST(ScalingVerdict, GivesNoFiguresOfAnIntervalThatTellsNothing) {
  Point wild = measured(2, kRings, 0.8);
  wild.efficiency_low = 4e-7;
  wild.efficiency_high = 1.5e6;
  EXPECT_EQ(verdict_on({measured(1, kAlone, 1), wild}),
            "2 ranks, ResNet-18 at 64x64, batch 32: ring keeps 80 % (launches differ too much to be sure) of ideal "
            "speed on this "
            "machine (measured).");
}

TEST(ScalingVerdict, DoubtsItsOwnFiguresOnly) {
  Point shown = measured(2, kRings, 0.8), other = measured(1, kRings, 0.9);
  other.warnings = {"the machine was busy"};
  EXPECT_EQ(
      verdict_on({shown, other}),
      "2 ranks, ResNet-18 at 64x64, batch 32: ring keeps 80 % (77 to 82) of ideal speed on this machine (measured).");
  shown.warnings = {"the machine was busy"};
  EXPECT_EQ(
      verdict_on({shown, other}),
      "2 ranks, ResNet-18 at 64x64, batch 32: ring keeps 80 % (77 to 82) of ideal speed on this machine (measured). "
      "Doubtful: see the warnings.");
}

// Whatever the sweep: at most 32 words to a sentence.
TEST(ScalingVerdict, IsShort) {
  ReportInput input = input_of({});
  input.profile_titles = {{"azure-nd96asr-v4", "Azure ND96asr v4, 8 x A100, 8 x 200 Gbit/s InfiniBand"},
                          {"capped", "1 x V100 nodes, a network capped at 2.5 Gbit/s for as long as it takes"}};
  std::vector<std::vector<Point>> sweeps;
  for (const Strategy& strategy : {kRings, kServers, ring_with("int8"), kRingFp16})
    for (const Strategy& other : {kServers, ring_with("topk:0.01"), kRings})
      sweeps.push_back({simulated("vgg16", "azure-nd96asr-v4", 128, strategy, 0.953),
                        simulated("vgg16", "capped", 128, strategy, 0.336), simulated("vgg16", "slow", 128, other, 0.2),
                        simulated("vgg16", "azure-nd96asr-v4", 128, other, 0.3),
                        simulated("vgg16", "capped", 128, other, 0.5)});
  sweeps.push_back({measured(2, kRings, 0.8), measured(2, kServers, 0.6)});
  for (std::vector<Point>& points : sweeps) {
    for (Point& point : points) point.warnings = {"busy"};
    input.points = points;
    for (const Verdict& verdict : all_of<Verdict>(kScalingReport.build(input))) {
      std::istringstream words(plain(verdict.text));
      EXPECT_LE(std::distance(std::istream_iterator<std::string>(words), {}), 32) << verdict.text;
    }
  }
}

TEST(ScalingVerdict, PrefersWhatWasMeasuredAtTheSameCountAndWhatReachesMore) {
  const Point timed = measured(8, kRings, 0.7);
  Point emulated = simulated("vgg16", "slow", 8, kRings, 0.6);
  emulated.asked.evidence = Evidence::emulated;
  const Point model = simulated("vgg16", "slow", 8, kRings, 0.2), larger = simulated("vgg16", "slow", 9, kRings, 0.5);
  EXPECT_EQ(
      verdict_on({model, emulated, timed}),
      "8 ranks, ResNet-18 at 64x64, batch 32: ring keeps 70 % (67 to 72) of ideal speed on this machine (measured).");
  EXPECT_EQ(verdict_on({model, emulated}),
            "8 GPUs, VGG-16, batch 32: ring keeps 60 % of ideal speed on slow (10 GbE), emulated.");
  EXPECT_EQ(verdict_on({model, emulated, timed, larger}),
            "9 GPUs, VGG-16, batch 32: ring keeps 50 % of ideal speed on slow (10 GbE), simulated.");
}

TEST(ScalingVerdict, CallsEachClusterByItsIdAndTablesAddItsTitleAndGpu) {
  ReportInput input = input_of({simulated("vgg16", "fast", 8, kRings, 0.9), simulated("vgg16", "slow", 8, kRings, 0.5),
                                simulated("vgg16", "other", 8, kRings, 0.7)});
  input.profile_titles["other"] = "V100 cloud, 10 GbE";
  input.profile_gpus = {{"fast", "A100"}, {"slow", "RTX 2080 Ti"}, {"other", "V100 SXM2"}};
  const Document document = kScalingReport.build(input);
  EXPECT_THAT(shown_labels(all_of<ChartGroup>(document).at(0).charts.at(0)),
              ElementsAre("ideal", "ring on fast", "ring on slow", "ring on other"));
  std::vector<std::string> networks;
  for (const auto& row : best_rows(document)) networks.push_back(row.at(1));
  EXPECT_THAT(networks, ElementsAre("fast (Fast cloud, 200 Gbit/s, A100)", "other (V100 cloud, 10 GbE)",
                                    "slow (10 GbE, RTX 2080 Ti)"));
}

// A step that was recorded on a CPU core has its speed: it is no RTX 2080 Ti wherever it is simulated.
TEST(ScalingVerdict, NeverPutsAStepOntoAGpuThatItWasNotRecordedOn) {
  ReportInput input = input_of({simulated("mine", "slow", 8, kRings, 0.5), simulated("mine", "other", 8, kRings, 0.7),
                                simulated("mine", "all", 8, kRings, 0.8)});
  for (Point& point : input.points)
    point.asked.source = "profile x; timeline mine (recorded: 1 thread of a CPU); one GPU: as recorded in the timeline";
  input.profile_titles["other"] = "RTX 2080 cloud, 10 GbE";
  input.profile_titles["all"] = "Lab, 8 x RTX 2080 Ti, 100 GbE";
  input.profile_gpus = {{"slow", "RTX 2080 Ti"}, {"other", "RTX 2080 Ti"}, {"all", "RTX 2080 Ti"}};
  const Document document = kScalingReport.build(input);
  for (const Verdict& verdict : all_of<Verdict>(document))
    EXPECT_EQ(verdict.text,
              "8 GPUs, mine, batch 32: ring keeps 50 % of ideal speed on slow (10 GbE) and 80 % on all (100 GbE), "
              "simulated.");
  std::vector<std::string> networks;
  for (const auto& row : best_rows(document)) networks.push_back(row.at(1));
  EXPECT_THAT(networks, ElementsAre("all (Lab, 100 GbE)", "other", "slow (10 GbE)"));
  for (const auto& row : rows_of(document, "Networks")) EXPECT_EQ(row.back(), "-") << row.front();
}

TEST(ScalingVerdict, HasNothingToScaleOnOneGpu) {
  EXPECT_EQ(verdict_on({simulated("vgg16", "slow", 1, kRings, 1)}),
            "With 1 GPU nothing is exchanged, so there is nothing to scale yet; ask for more, such as --gpus 1..8.");
}

TEST(ScalingVerdict, FallsBackToSpeedWithoutABaseline) {
  Point slow = simulated("vgg16", "slow", 8, kRings, 0.5), fast = simulated("vgg16", "fast", 8, kRings, 0.75);
  slow.efficiency.reset();
  fast.efficiency.reset();
  EXPECT_EQ(
      verdict_on({slow, fast}),
      "8 GPUs, VGG-16, batch 32: 600 samples/s with ring on fast (simulated), without a baseline for an efficiency.");
}

TEST(ScalingVerdict, FallsBackToWhatScalesThoughAProcessByItselfIsFaster) {
  Point alone = simulated("vgg16", "slow", 1, {.algorithm = "none"}, 1),
        ring = simulated("vgg16", "slow", 8, kRings, 0.1);
  alone.efficiency.reset();
  ring.efficiency.reset();
  ring.throughput = alone.throughput / 2;
  EXPECT_EQ(
      verdict_on({alone, ring}),
      "8 GPUs, VGG-16, batch 32: 50 samples/s with ring on slow (simulated), without a baseline for an efficiency.");
}

TEST(ScalingVerdict, UsesPublishedFiguresOnlyWhereThereIsNothingElse) {
  const Point theirs = published("slow", 512, kRings, 0.5);
  EXPECT_EQ(verdict_on({theirs, simulated("vgg16", "slow", 4, kRings, 0.9)}),
            "4 GPUs, VGG-16, batch 32: ring keeps 90 % of ideal speed on slow (10 GbE), simulated.");
  EXPECT_EQ(verdict_on({theirs}),
            "512 GPUs, VGG-16, batch 32: ring keeps 50 % of ideal speed on slow (10 GbE), published.");
  EXPECT_EQ(reason_for({theirs}), "As published elsewhere; nothing was simulated or measured.");
}

TEST(ScalingVerdict, IgnoresEfficienciesThatAreNoNumbers) {
  EXPECT_EQ(verdict_on({simulated("vgg16", "slow", 4, kRings, 0.9),
                        simulated("vgg16", "slow", 8, kRings, std::numeric_limits<double>::quiet_NaN())}),
            "4 GPUs, VGG-16, batch 32: ring keeps 90 % of ideal speed on slow (10 GbE), simulated.");
}

TEST(ScalingVerdict, IsFollowedByTheErrorOfEachAlgorithm) {
  EXPECT_EQ(reason_for({simulated("vgg16", "slow", 8, kServers, 0.3), published("slow", 8, kServers, 0.5),
                        simulated("vgg16", "slow", 4, kRings, 0.9), published("slow", 4, kRings, 0.88),
                        simulated("vgg16", "slow", 8, kRings, 0.7), published("slow", 8, kRings, 0.74)}),
            "Simulated; the mean error against published figures of these workloads is 3.0 percentage points for ring "
            "all-reduce (2 figures, largest 4.0), 20.0 for parameter servers (1 figure, largest 20.0).");
  EXPECT_EQ(reason_for({simulated("vgg16", "slow", 8, kServers, 0.3)}),
            "Simulated; no published figure was found to compare it with.");
}

TEST(ScalingVerdict, TellsErrorsOnFiguresThatChoseSomethingApart) {
  ReportInput input = input_of({simulated("vgg16", "slow", 4, kRings, 0.9), published("slow", 4, kRings, 0.88),
                                simulated("vgg16", "slow", 8, kRings, 0.7), published("slow", 8, kRings, 0.74)});
  const auto reason = [&] { return all_of<Paragraph>(kScalingReport.build(input)).at(0).text; };
  ASSERT_EQ(input.comparisons.size(), 2);
  input.comparisons[0].chosen = "profile";
  EXPECT_EQ(reason(),
            "Simulated; the mean error against published figures of these workloads is 4.0 percentage points for ring "
            "all-reduce (1 figure, largest 4.0); on those with which something was chosen, 2.0 percentage points for "
            "ring all-reduce (1 figure, largest 2.0).");
  input.comparisons[1].chosen = "lost-share";
  EXPECT_EQ(
      reason(),
      "Simulated; something of the model was chosen with all published figures of these workloads (hbench validate "
      "has others): its mean error on them is 3.0 percentage points for ring all-reduce (2 figures, largest 4.0).");
}

TEST(ScalingVerdict, SaysOfABaselineAloneThatNothingWasCommunicated) {
  Point alone = measured(1, kAlone, 1);
  alone.efficiency.reset();
  EXPECT_EQ(
      verdict_on({alone}),
      "1 rank, ResNet-18 at 64x64, batch 32: 100 samples/s with no communication on this machine (measured), without a "
      "baseline for an efficiency.");
}

}  // namespace
}  // namespace hbench::scaling_verdict_test
