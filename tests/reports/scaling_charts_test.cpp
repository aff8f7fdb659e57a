
#include <map>

#include "reports/formats/prepare.hpp"
#include "reports/scaling/headline.hpp"
#include "reports/scaling/series.hpp"
#include "reports/scaling/sides.hpp"
#include "tests/reports/scaling_points.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::scaling_charts_test {
namespace {

TEST(ScalingCharts, HaveOneSeriesPerStrategyAndNetworkByRisingGpus) {
  const Document document =
      report_on({simulated("vgg16", "slow", 8, kRings, 0.5), simulated("vgg16", "slow", 2, kRings, 0.8),
                 simulated("vgg16", "fast", 2, kRings, 0.9), published("slow", 8, kRings, 0.45)});
  const Chart chart = all_of<ChartGroup>(document).at(0).charts.at(0);
  EXPECT_EQ(chart.id, "efficiency-vgg16");
  ASSERT_THAT(shown_labels(chart), ElementsAre("ideal", "ring on slow", "ring on fast", "ring on slow (published)"));
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
  const Document document = report_on({measured(1, kAlone, 1), measured(2, kRings, 1.13)});
  const Chart chart = all_of<ChartGroup>(document).at(0).charts.at(0);
  EXPECT_THAT(shown_labels(chart), ElementsAre("ideal", "ring on this machine (measured)"));
  EXPECT_EQ(chart.x_title, "Ranks");
  EXPECT_DOUBLE_EQ(chart.y_max.value(), 1.2);
}

/// Of 512 samples a step on all GPUs together.
Point strong(int gpus, double efficiency) {
  Point point = simulated("vgg16", "slow", gpus, kRings, efficiency);
  point.asked.global_batch = 512;
  point.asked.batch_per_gpu = 512 / gpus;
  return point;
}

TEST(ScalingCharts, SayWhetherTheBatchOfEachGpuStaysOrThatOfAll) {
  const auto efficiency_of = [](std::vector<Point> points) {
    return all_of<ChartGroup>(report_on(std::move(points))).at(0).charts.at(0);
  };
  EXPECT_TRUE(efficiency_of({simulated("vgg16", "slow", 2, kRings, 0.9), simulated("vgg16", "slow", 8, kRings, 0.8)})
                  .caption.starts_with("Weak scaling: each GPU keeps its batch. "));
  const Chart chart = efficiency_of({strong(2, 0.9), strong(8, 0.8)});
  EXPECT_TRUE(chart.caption.starts_with("Strong scaling: 512 samples a step at every GPU count. ")) << chart.caption;
  EXPECT_THAT(shown_labels(chart), ElementsAre("ideal", "ring on slow")) << "one curve, whatever each GPU takes";
  EXPECT_EQ(chart.series.at(1).points.size(), 2u);
  const Chart both = efficiency_of({strong(2, 0.9), simulated("vgg16", "slow", 2, kRings, 0.95)});
  EXPECT_TRUE(both.caption.starts_with("Weak scaling, each GPU keeps its batch, but where")) << both.caption;
  EXPECT_THAT(shown_labels(both), ElementsAre("ideal", "ring on slow, global batch 512", "ring on slow, batch 32"));
}

TEST(ScalingCharts, WidenTheThroughputOfAGpuWhoseRateIsOfAnotherBatch) {
  Point point = strong(2, 0.8);
  point.efficiency_low = 0.7;
  point.efficiency_high = 0.9;
  point.throughput = 160;
  point.rate_factor = 2;
  const auto groups = all_of<ChartGroup>(report_on({point}));
  const ChartPoint& efficiency = groups.at(0).charts.at(0).series.at(1).points.at(0);
  EXPECT_EQ(efficiency.low, 0.7);
  const ChartPoint& throughput = groups.at(1).charts.at(0).series.at(0).points.at(0);
  EXPECT_DOUBLE_EQ(*throughput.low, 70);
  EXPECT_DOUBLE_EQ(*throughput.high, 360);
}

TEST(ScalingCharts, GivePublishedVariantsTheColourOfTheirStrategy) {
  Strategy variant = kRings;
  variant.fusion = "horovod-2018:64MiB:5ms";
  const Document document =
      report_on({simulated("vgg16", "slow", 8, kRings, 0.5), published("slow", 8, variant, 0.45)});
  const Chart chart = all_of<ChartGroup>(document).at(0).charts.at(0);
  EXPECT_EQ(chart.series.at(2).label, "ring, horovod-2018 on slow (published)");
  EXPECT_EQ(chart.series.at(2).group, chart.series.at(1).group);
  EXPECT_FALSE(chart.panels) << "there is one network";
}

TEST(ScalingCharts, BeginWithTheWorkloadOfTheHeadlineAndGoOnByFallingSpread) {
  const std::vector<Point> points{
      simulated("few", "fast", 4, kRings, 0.9),    simulated("few", "slow", 4, kRings, 0.2),
      simulated("many", "fast", 8, kRings, 0.9),   simulated("many", "slow", 8, kRings, 0.8),
      simulated("little", "fast", 4, kRings, 0.9), simulated("little", "slow", 4, kRings, 0.7)};
  EXPECT_EQ(find_headline(points)->best().asked.workload, "many");
  std::vector<std::string> order;
  for (const Subject& subject : subjects_by_spread(points)) order.push_back(subject.workload);
  EXPECT_THAT(order, ElementsAre("many", "few", "little"));
}

TEST(ScalingCharts, ShowTheHeadlinesStrategiesOnTheNetworksThatTellMost) {
  std::vector<Point> points{published("c", 8, kRings, 0.6), published("b", 8, kDedicatedServers, 0.6),
                            published("c", 8, kServers, 0.3)};
  double efficiency = 0.9;
  for (const char* network : {"a", "b", "c", "d", "e", "f", "g"}) {
    points.push_back(simulated("vgg16", network, 8, kRings, efficiency));
    points.push_back(simulated("vgg16", network, 8, kRingFp16, efficiency + 0.05));
    points.push_back(simulated("vgg16", network, 8, kServers, efficiency - 0.3));
    efficiency -= 0.1;
  }
  const Chart chart = all_of<ChartGroup>(report_on(points)).at(0).charts.at(0);
  EXPECT_TRUE(chart.panels);
  EXPECT_THAT(shown_labels(chart),
              ElementsAre("ideal", "ring on a", "ring + fp16 on a", "ps (greedy, colocated) on a", "ring on b",
                          "ring + fp16 on b", "ps (greedy, colocated) on b", "ring on c", "ring + fp16 on c",
                          "ps (greedy, colocated) on c", "ring on d", "ring + fp16 on d", "ps (greedy, colocated) on d",
                          "ring on e", "ring + fp16 on e", "ps (greedy, colocated) on e", "ring on g",
                          "ring + fp16 on g", "ps (greedy, colocated) on g", "ps (sliced, dedicated) on b (published)",
                          "ring on c (published)", "ps (greedy, colocated) on c (published)"));
  EXPECT_EQ(chart.series.size(), 1 + 7 * 3 + 3);
  // In the legend what is shown comes first; then lines come before single marks.
  std::vector<int> places;
  for (const Series& series : chart.series)
    if (series.mark != Mark::ideal) places.push_back((series.shown ? 0 : 2) + (series.mark == Mark::published ? 1 : 0));
  EXPECT_TRUE(std::ranges::is_sorted(places)) << testing::PrintToString(places);
}

TEST(ScalingCharts, ShowOfOneStrategyOnANetworkWhatHasTheMostPublishedFigures) {
  std::vector<Point> points;
  Strategy merged = kRings, unfused = kRings;
  merged.fusion = "mg-wfbp";
  unfused.fusion = "none";
  for (const char* network : {"a", "b", "c", "d"})
    for (const Strategy& strategy : {kRings, kRingFp16, kServers})
      points.push_back(simulated("vgg16", network, 8, strategy, 0.5));
  for (const int gpus : {4, 8}) points.push_back(published("a", gpus, merged, 0.6));
  points.push_back(published("a", 8, unfused, 0.4));
  points.push_back(published("b", 8, unfused, 0.4));
  std::set<std::string> shown;
  const Chart chart = all_of<ChartGroup>(report_on(points)).at(0).charts.at(0);
  for (const Series& series : chart.series)
    if (series.mark == Mark::published && series.shown) shown.insert(series.label);
  EXPECT_THAT(shown, ElementsAre("ring, mg-wfbp on a (published)", "ring, no fusion on b (published)"));
}

/// The verdict compares the best of either side: the chart below it must show these, the most efficient network first.
TEST(ScalingCharts, ShowTheBestOfEitherSideOnEachNetwork) {
  std::vector<Point> points;
  double ring = 0.9;
  for (const char* network : {"a", "b", "c", "d"}) {
    const double sliced = network == std::string("c") ? 0.95 : ring - 0.1;
    points.push_back(simulated("vgg16", network, 8, kRings, ring));
    points.push_back(simulated("vgg16", network, 8, kServers, 0.01));
    points.push_back(simulated("vgg16", network, 8, kColocatedServers, sliced));
    points.push_back(simulated("vgg16", network, 8, kDedicatedServers, sliced - 0.05));
    // On fewer GPUs another configuration is the best: the chart goes by the most.
    points.push_back(simulated("vgg16", network, 4, kDedicatedServers, 0.99));
    points.push_back(simulated("vgg16", network, 4, kColocatedServers, 0.5));
    ring -= 0.15;
  }
  const Chart chart = all_of<ChartGroup>(report_on(points)).at(0).charts.at(0);
  std::vector<std::string> expected{"ideal"};
  for (const char* network : {"c", "a", "b", "d"})
    for (const char* strategy : {"ring", "ps (sliced, colocated)"})
      expected.push_back(std::string(strategy) + " on " + network);
  EXPECT_THAT(shown_labels(chart), ElementsAreArray(expected));
}

TEST(ScalingCharts, HideNothingOfEightLines) {
  std::vector<Point> points;
  for (const char* network : {"a", "b", "c", "d"})
    for (const Strategy& strategy : {kRings, kRingFp16})
      points.push_back(simulated("vgg16", network, 8, strategy, 0.5));
  EXPECT_THAT(shown_labels(all_of<ChartGroup>(report_on(points)).at(0).charts.at(0)), SizeIs(1 + 8));
  points.push_back(simulated("vgg16", "e", 8, kRings, 0.4));
  EXPECT_THAT(shown_labels(all_of<ChartGroup>(report_on(points)).at(0).charts.at(0)), SizeIs(1 + 9));
}

TEST(ScalingCharts, TellNumbersOfServersAndBatchesApart) {
  Point few = simulated("vgg16", "slow", 8, kServers, 0.2), many = few,
        large = simulated("vgg16", "slow", 8, kRings, 0.5);
  few.asked.strategy.servers = 1;
  many.asked.strategy.servers = 4;
  large.asked.batch_per_gpu = 64;
  const Document document = report_on({few, many, large, simulated("vgg16", "slow", 8, kRings, 0.4)});
  EXPECT_THAT(
      shown_labels(all_of<ChartGroup>(document).at(0).charts.at(0)),
      ElementsAre("ideal", "ps (greedy, colocated), 1 server on slow", "ps (greedy, colocated), 4 servers on slow",
                  "ring on slow, batch 64", "ring on slow, batch 32"));
}

TEST(ScalingCharts, DrawThroughputWithTheIntervalOfTheEfficiency) {
  const Document document = report_on({measured(2, kRings, 0.8)});
  const ChartPoint drawn = all_of<ChartGroup>(document).at(1).charts.at(0).series.at(0).points.at(0);
  EXPECT_EQ(drawn.y, 160);
  EXPECT_DOUBLE_EQ(drawn.low.value(), 154);
  EXPECT_DOUBLE_EQ(drawn.high.value(), 164);
}

Point on_nodes(int nodes, int ranks, double efficiency) {
  Point point = measured(ranks, kRings, efficiency);
  point.asked.nodes = nodes;
  return point;
}

TEST(NodeCharts, DrawTheSameRanksOverNodes) {
  Point without_baseline = on_nodes(8, 4, 0);
  without_baseline.efficiency.reset();
  const Document report = report_on({on_nodes(1, 1, 1), on_nodes(1, 4, 0.9), on_nodes(4, 4, 0.5), on_nodes(2, 4, 0.7),
                                     on_nodes(2, 8, 0.6), without_baseline});
  const Chart* over_nodes = nullptr;
  for (const Chart* chart : charts_of(report))
    if (chart->x_title == "Nodes") over_nodes = chart;
  ASSERT_NE(over_nodes, nullptr);
  EXPECT_EQ(over_nodes->id, "nodes-resnet18-64");
  ASSERT_EQ(over_nodes->series.size(), 1) << "eight ranks ran on two nodes only";
  const Series& four = over_nodes->series.front();
  EXPECT_EQ(four.label, "ring, 4 ranks");
  EXPECT_EQ(four.mark, Mark::measured);
  std::vector<std::pair<double, double>> points;
  for (const ChartPoint& each : four.points) points.emplace_back(each.x, each.y);
  EXPECT_EQ(points, (std::vector<std::pair<double, double>>{{1, 0.9}, {2, 0.7}, {4, 0.5}}));
}

TEST(SidesOverNodes, AreComparedOnTheSameNumberOfNodes) {
  Point servers = on_nodes(1, 4, 0.6);
  servers.asked.strategy = kServers;
  const std::vector<Point> points{on_nodes(1, 4, 0.9), on_nodes(2, 4, 0.5), servers};
  const auto sides = best_of_sides({&points[0], &points[1], &points[2]});
  ASSERT_EQ(sides.size(), 2);
  EXPECT_TRUE(sides[0].both());
  EXPECT_EQ(sides[0].first, &points[0]);
  EXPECT_FALSE(sides[1].both()) << "no servers ran on two nodes";
}

TEST(NodeCharts, AreAbsentWhereNothingRanOnSeveralNumbersOfNodes) {
  const Document report = report_on({on_nodes(1, 1, 1), on_nodes(2, 4, 0.7)});
  for (const Chart* chart : charts_of(report)) EXPECT_NE(chart->x_title, "Nodes");
}

TEST(ScalingCurves, HaveTheFewestNodesOfEachGpuCountAndMoreOnCurvesOfTheirOwn) {
  const ReportInput input =
      input_of({on_nodes(1, 2, 0.9), on_nodes(2, 2, 0.8), on_nodes(2, 4, 0.7), on_nodes(4, 4, 0.5)});
  const std::vector<Curve> curves = curves_of(Scaling(input), subject_of(input.points.front().asked));
  std::map<std::string, std::vector<int>> gpus;
  for (const Curve& curve : curves)
    for (const Point* each : curve.points) gpus[curve.series.label].push_back(each->asked.gpus);
  const std::string packed = "ring on this machine (measured)";
  EXPECT_EQ(gpus, (std::map<std::string, std::vector<int>>{
                      {packed, {2, 4}}, {packed + ", 2 nodes", {2}}, {packed + ", 4 nodes", {4}}}));
}

}  // namespace
}  // namespace hbench::scaling_charts_test
