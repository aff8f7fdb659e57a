
#include <map>

#include "tests/reports/scaling_points.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::scaling_tables_test {
namespace {

TEST(ScalingTables, CompareEitherSideByItsBestOnTheMostGpus) {
  Strategy eight = kDedicatedServers;
  eight.servers = 8;
  const Document document =
      report_on({simulated("vgg16", "slow", 4, kRings, 0.99), simulated("vgg16", "slow", 8, kRings, 0.3),
                 simulated("vgg16", "slow", 8, kServers, 0.01), simulated("vgg16", "slow", 8, eight, 0.5),
                 simulated("vgg16", "fast", 8, kRings, 0.9), simulated("vgg16", "fast", 8, eight, 0.8),
                 simulated("resnet50", "fast", 2, kRings, 0.8)});
  EXPECT_THAT(best_rows(document),
              ElementsAre(ElementsAre("VGG-16", "fast (Fast cloud, 200 Gbit/s)", "8", "simulated", "ring", "90.0 %",
                                      "8 servers (sliced, dedicated)", "80.0 %", "all-reduce? 1.12 (0.98-1.30)"),
                          ElementsAre("VGG-16", "slow (10 GbE)", "8", "simulated", "ring", "30.0 %",
                                      "8 servers (sliced, dedicated)", "50.0 %", "servers 1.7 (1.4-1.9)"),
                          ElementsAre("ResNet-50", "fast (Fast cloud, 200 Gbit/s)", "2", "simulated", "ring", "80.0 %",
                                      "-", "-", "-")));
}

TEST(ScalingTables, OfMoreThanThirtyPairsAreFolded) {
  for (const int networks : {30, 31}) {
    std::vector<Point> points;
    for (int i = 0; i < networks; ++i) points.push_back(simulated("vgg16", "net" + std::to_string(i), 8, kRings, 0.5));
    const auto tables = all_of<Table>(report_on(points));
    const auto best = std::ranges::find_if(
        tables, [](const Table& table) { return table.caption.starts_with("All-reduce against parameter servers"); });
    ASSERT_NE(best, tables.end());
    EXPECT_EQ(best->rows.size(), static_cast<std::size_t>(networks));
    EXPECT_EQ(best->folded, networks > 30);
  }
}

/// A simulated point of VGG-16 on 8 GPUs by a method, of which each GPU sends `megabytes` between nodes.
Point by_method(const std::string& method, double efficiency, double megabytes, Strategy strategy = kRings) {
  strategy.method = method;
  Point point = simulated("vgg16", "fast", 8, strategy, efficiency);
  point.sent = {{"within", 0.0}, {"between", megabytes * 1e6}};
  return point;
}

TEST(ScalingTables, CompareTrainingMethodsByTheBestConfigurationOfEach) {
  Point servers = by_method("async-ps", 0.5, 80, kServers);
  servers.staleness = {{"mean", 7.0}, {"p95", 9.0}, {"largest", 12.0}};
  const Document document =
      report_on({by_method("", 0.7, 100), by_method("", 0.9, 50, kRingFp16), by_method("local-sgd:8", 0.95, 12.5),
                 by_method("local-sgd:8", 0.99, 12.5, kRingFp16), servers, by_method("async-ps", 0.4, 80, kServers),
                 by_method("zero:2", 0.3, 100), simulated("vgg16", "fast", 4, kRings, 0.99)});
  EXPECT_THAT(rows_of(document, "Methods on the most GPUs, the most efficient first"),
              ElementsAre(ElementsAre("VGG-16", "fast", "8", "simulated", "local-sgd:8", "ring", "760", "95.0 %",
                                      testing::_, "12.5 MB", "-"),
                          ElementsAre("VGG-16", "fast", "8", "simulated", "synchronous", "ring", "560", "70.0 %",
                                      testing::_, "100 MB", "-"),
                          ElementsAre("VGG-16", "fast", "8", "simulated", "async-ps", "servers (greedy, colocated)",
                                      "400", "50.0 %", testing::_, "80 MB", "7 (up to 12)"),
                          ElementsAre("VGG-16", "fast", "8", "simulated", "zero:2", "ring", "240", "30.0 %", testing::_,
                                      "100 MB", "-")))
      << "gradients that are compressed are another training";
  EXPECT_THAT(rows_of(report_on({by_method("", 0.7, 100), by_method("", 0.9, 50, kRingFp16)}),
                      "Methods on the most GPUs, the most efficient first"),
              IsEmpty())
      << "one method is no comparison";
}

TEST(ScalingTables, HaveThePredictedCostsOfMethodsWhoseStepsWereTimed) {
  const auto timed = [](const char* method, double efficiency) {
    Point point = by_method(method, efficiency, 0);
    point.asked.evidence = Evidence::emulated;
    point.sent.clear();
    return point;
  };
  const auto sent_cells = [](const std::vector<Point>& points) {
    std::map<std::string, std::string> cells;
    for (const auto& row : rows_of(report_on(points), "Methods on the most GPUs, the most efficient first"))
      cells[row.at(3) + " " + row.at(4)] = row.at(9);
    return cells;
  };
  Point elsewhere = by_method("zero:1", 0.6, 70);
  elsewhere.asked.profile = "slow";
  EXPECT_THAT(sent_cells({timed("", 0.7), timed("zero:1", 0.6), by_method("", 0.7, 100), elsewhere}),
              UnorderedElementsAre(Pair("emulated synchronous", "100 MB, predicted"), Pair("emulated zero:1", "-")))
      << "of another network it is no prediction of this step";
}

TEST(ScalingTables, DrawMethodsThatAreAlikeAsOneMark) {
  const Document document = report_on({by_method("", 0.7, 100), by_method("zero:1", 0.5, 100),
                                       by_method("zero:2", 0.495, 100.1), by_method("gossip", 0.49, 50)});
  const auto groups = all_of<ChartGroup>(document);
  const auto group = std::ranges::find(groups, "Efficiency and bytes", &ChartGroup::title);
  ASSERT_NE(group, groups.end());
  EXPECT_THAT(shown_labels(group->charts.at(0)),
              ElementsAre("synchronous, fast", "zero:1, zero:2, fast", "gossip, fast"));
}

TEST(ScalingWarnings, StandBelowTheVerdictOncePerSentenceWithTheirPoints) {
  Point first = measured(2, kRings, 1.13), second = measured(4, kRings, 0.9), sound = measured(8, kRings, 0.9);
  Point lost = failure("lost");
  first.warnings = {"the machine was busy", "an efficiency above 100 % is not possible"};
  second.warnings = {"the machine was busy"};
  lost.warnings = {"never shown"};
  for (const auto& report : {kScalingReport.build, kScalingReport.build_short}) {
    const Document document = report(input_of({first, second, sound, lost}));
    EXPECT_THAT(all_of<Warnings>(document).at(0).texts,
                ElementsAre("1 of 4 cases failed; the reasons are below",
                            "ResNet-18 at 64x64, ring on 2 ranks; ResNet-18 at 64x64, ring on 4 ranks: the machine was "
                            "busy",
                            "ResNet-18 at 64x64, ring on 2 ranks: an efficiency above 100 % is not possible"));
  }
  EXPECT_THAT(all_of<Warnings>(report_on({sound})), IsEmpty());
}

TEST(ScalingWarnings, NameThreePointsAndCountTheRest) {
  std::vector<Point> points;
  for (int ranks : {2, 3, 4, 5, 6}) points.push_back(measured(ranks, kRings, 0.9));
  for (Point& point : points) point.warnings = {"busy"};
  EXPECT_THAT(all_of<Warnings>(report_on(points)).at(0).texts, ElementsAre(HasSubstr("on 4 ranks and 2 more: busy")));
}

TEST(ScalingTables, PutTheLargestDifferenceFirstAndNameUnpairedFigures) {
  // Of 32 x 100 samples/s that are simulated without communication, 640 are 20 %.
  Point speed_only = published("slow", 32, kRings, 0);
  speed_only.efficiency.reset();
  speed_only.throughput = 640;
  const Document document =
      report_on({simulated("vgg16", "slow", 4, kRings, 0.9), published("slow", 4, kRings, 0.88),
                 simulated("vgg16", "slow", 8, kRings, 0.7), published("slow", 8, kRings, 0.74),
                 simulated("vgg16", "slow", 32, kRings, 0.5), speed_only, published("slow", 16, kRings, 0.6),
                 published("slow", 8, kServers, 0.3), published("fast", 8, kRings, 0.9)});
  const auto row = [](const char* gpus, const char* reported, const char* predicted, const char* difference) {
    return ElementsAre("VGG-16", "slow (10 GbE)", gpus, "ring", reported, predicted, difference, "nothing", "a paper");
  };
  EXPECT_THAT(rows_of(document,
                      "Simulated against published efficiency, the largest difference first (*: of the simulated rate "
                      "of one GPU, as the source states none)"),
              ElementsAre(row("32", "20.0 % *", "50.0 %", "+30.0"), row("8", "74.0 %", "70.0 %", "-4.0"),
                          row("4", "88.0 %", "90.0 %", "+2.0")));
  std::vector<std::string> reasons;
  for (const auto& rest : rows_of(document, "Published figures without a simulated counterpart"))
    reasons.push_back(rest.at(6));
  EXPECT_THAT(reasons, ElementsAre("not simulated on as many GPUs", "not simulated with its strategy",
                                   "not simulated on this network"));
  bool said = false;
  for (const Paragraph& each : all_of<Paragraph>(document))
    said |= each.text.ends_with("the largest 30.0. 3 not compared; the last table says why.");
  EXPECT_TRUE(said) << "beside the errors";
}

TEST(ScalingTables, SplitTheStepOnTheMostGpusIntoItsParts) {
  Point large = simulated("vgg16", "slow", 8, kRings, 0.5), small = simulated("vgg16", "slow", 4, kRings, 0.8);
  large.step_seconds = 0.2;
  large.ledger = {{"compute", 0.1}, {"straggler", 0.01}, {"slowdown", 0.02}, {"exposed", 0.07}};
  large.ledger["coding"] = 1e-5;  // too little to have a column
  small.ledger = large.ledger;
  Point elsewhere = simulated("vgg16", "fast", 4, kRings, 0.9);  // a network that is too small for as many
  elsewhere.ledger = large.ledger;
  EXPECT_THAT(rows_of(report_on({small, large, elsewhere}), "All workloads, networks and strategies"),
              ElementsAre(ElementsAre("VGG-16", "8", "slow", "ring", "simulated", "200.0", "50.0 %", "5.0 %", "10.0 %",
                                      "35.0 %")));
}

TEST(ScalingTables, ListWhatWasMeasuredWhileAGpuWasHeldBack) {
  Point hot = measured(2, kRings, 0.9), capped = measured(4, kRings, 0.8), free = measured(8, kRings, 0.7);
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
  EXPECT_THAT(all_of<Warnings>(report_on({hot, capped, free})).at(0).texts,
              ElementsAre(HasSubstr("1 point was measured while a GPU was throttled")));
  EXPECT_TRUE(rows_of(report_on({free, measured(2, kRings, 0.9)}), caption).empty());
  EXPECT_THAT(all_of<Warnings>(report_on({capped, free})), IsEmpty()) << "at their power cap large GPUs are well";
}

TEST(ScalingTables, ListMeasuredPointsWithTheirBaselineAndRepetitions) {
  const auto rows = rows_of(report_on({measured(2, kRings, 0.8)}), "");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0], ElementsAre("ResNet-18 at 64x64", "this machine", "2", "ring", "160", "80", "80.0 %",
                                   "77.0 to 82.0 %", "one process without communication, 100 samples/s", "30", "3"));
}

TEST(ScalingTables, GiveASourceOneNumber) {
  Point other = published("slow", 8, kRings, 0.7);
  other.asked.source = "another paper";
  const Document document = report_on({published("slow", 4, kRings, 0.88), other, published("slow", 2, kRings, 0.9)});
  EXPECT_THAT(rows_of(document, "Sources"),
              ElementsAre(ElementsAre("S1", "a paper"), ElementsAre("S2", "another paper")));
  const auto rows = rows_of(document, "3 published points");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].back() + rows[1].back() + rows[2].back(), "S1S2S1");
}

TEST(ScalingTables, ListEveryPointThatDidNotFailByEvidenceWithNumberedSources) {
  const Document document =
      report_on({simulated("vgg16", "slow", 4, kRings, 0.9), published("slow", 4, kRings, 0.88), failure("lost")});
  EXPECT_THAT(rows_of(document, "1 simulated point"), SizeIs(1));
  EXPECT_THAT(rows_of(document, "1 published point"),
              ElementsAre(ElementsAre("VGG-16", "slow (10 GbE)", "ring", "4", "32", "published", "352", "88.0 %", "-",
                                      "-", "S1")));
  EXPECT_THAT(rows_of(document, "Sources"), ElementsAre(ElementsAre("S1", "a paper")));
}

/// On nodes like this machine.
Point predicted(int ranks, const Strategy& strategy, double efficiency) {
  Point result = simulated("resnet18", "this-machine-fast", ranks, strategy, efficiency);
  result.asked.image_size = 64;
  return result;
}

TEST(Predictions, AreShownBesideWhatWasMeasuredHereAndInOneChartWithIt) {
  const std::vector<Point> points{measured(2, kRings, 0.9),
                                  measured(4, kRings, 0.8),
                                  predicted(2, kRings, 0.94),
                                  predicted(4, kRings, 0.7),
                                  predicted(8, kRings, 0.6),
                                  measured(1, kRings, 0.99),
                                  predicted(1, kRings, 1),
                                  measured(2, kDedicatedServers, 0.5),
                                  predicted(2, kDedicatedServers, 0.9)};
  const Document document = report_on(points);
  // The largest first: 0.7 - 0.8 and 0.94 - 0.9. One rank exchanges nothing; dedicated servers are elsewhere.
  EXPECT_THAT(
      rows_of(document, "Simulated against measured efficiency on this machine, the largest difference first"),
      ElementsAre(ElementsAre("ResNet-18 at 64x64", "4", "ring", "80.0 %", "77.0 to 82.0 %", "70.0 %", "-10.0"),
                  ElementsAre("ResNet-18 at 64x64", "2", "ring", "90.0 %", "87.0 to 92.0 %", "94.0 %", "+4.0")));
  EXPECT_EQ(
      reason_for(points),
      "Simulated; no published figure was found to compare it with. On 2 points measured on this machine, none of "
      "which calibrated anything, the prediction is off by 7.0 percentage points on average and 10.0 at most.");
  for (const ChartGroup& group : all_of<ChartGroup>(document)) EXPECT_EQ(group.charts.size(), 1u);
}

TEST(Emulations, AreShownBesideTheirSimulationTheLargestDifferenceFirst) {
  Point near = point(Evidence::emulated, "vgg16", "slow", 4, kRings, 0.8);
  Point far = point(Evidence::emulated, "vgg16", "slow", 8, kRings, 0.4);
  near.emulation = "dilated 50 times";
  far.emulation = "dilated 70 times";
  const Document document = report_on({near, far, simulated("vgg16", "slow", 4, kRings, 0.8),
                                       simulated("vgg16", "slow", 8, kRings, 0.5), published("slow", 8, kRings, 0.45)});
  const std::string caption = "Efficiency, simulated against emulated, the largest difference of throughputs first";
  EXPECT_THAT(
      rows_of(document, caption),
      ElementsAre(ElementsAre("VGG-16", "slow (10 GbE)", "8", "ring", "45.0 %", "40.0 %", "-", "50.0 %", "+25.0 %"),
                  ElementsAre("VGG-16", "slow (10 GbE)", "4", "ring", "", "80.0 %", "-", "80.0 %", "+0.0 %")));
  EXPECT_THAT(rows_of(document, "How each was emulated"),
              ElementsAre(ElementsAre("VGG-16", "slow (10 GbE)", "8", "ring", "dilated 70 times"),
                          ElementsAre("VGG-16", "slow (10 GbE)", "4", "ring", "dilated 50 times")));
  const Document without = report_on({simulated("vgg16", "slow", 4, kRings, 0.8)});
  EXPECT_THAT(rows_of(without, caption), IsEmpty());
}

TEST(Predictions, AreNotSpokenOfWhereThereAreNone) {
  const Document document = report_on({measured(2, kRings, 0.9), simulated("vgg16", "fast", 8, kRings, 0.7)});
  for (const Heading& heading : all_of<Heading>(document)) EXPECT_THAT(heading.text, Not(HasSubstr("measured here")));
}

/// Whether it begins with a digit, or with a sign and a digit.
bool begins_with_number(std::string_view cell) {
  if (cell.starts_with('+') || cell.starts_with('-')) cell.remove_prefix(1);
  return !cell.empty() && cell.front() >= '0' && cell.front() <= '9';
}

TEST(ScalingTables, SplitMeasuredStepsBesideWhatWasSimulatedForThem) {
  Point seen = measured(2, kRings, 0.8), foreseen = predicted(2, kRings, 0.9), larger = predicted(8, kRings, 0.7);
  seen.step_seconds = foreseen.step_seconds = larger.step_seconds = 0.1;
  seen.ledger = {{"compute", 0.06}, {"slowdown", 0.01}, {"exposed", 0.02}, {"optimizer", 0.01}};
  foreseen.ledger = {{"compute", 0.09}, {"exposed", 0.01}};
  larger.ledger = {{"compute", 0.07}, {"exposed", 0.03}};
  const auto rows = rows_of(report_on({seen, foreseen, larger}), "All workloads, networks and strategies");
  ASSERT_EQ(rows.size(), 3U) << "the measured step, the same simulated, and the largest simulated one";
  const auto found = std::ranges::find_if(rows, [](const auto& row) { return row[4] == "measured"; });
  ASSERT_NE(found, rows.end());
  EXPECT_EQ(plain((*found)[6]), "60.0 %");
  EXPECT_EQ((*found)[7], "-") << "not known";
  EXPECT_EQ(plain(found->back()), "10.0 %") << "the optimizer's column is there where somebody knows it";
  ASSERT_NE(std::next(found), rows.end());
  EXPECT_EQ((*std::next(found))[4], "simulated");
  EXPECT_EQ((*std::next(found))[1], "2");
}

/// One report with all of its tables of points.
Document rich_report() {
  Point baseline = measured(1, kAlone, 1);
  Point step = simulated("vgg16", "fast", 8, kRings, 0.7);
  step.ledger = {{"compute", 0.2}, {"exposed", 0.1}};
  return report_on({baseline, measured(2, kRings, 0.9), measured(2, kDedicatedServers, 0.5), predicted(2, kRings, 0.94),
                    simulated("vgg16", "fast", 4, kRings, 0.9), simulated("vgg16", "fast", 4, kServers, 0.4),
                    published("fast", 4, kRings, 0.88), published("fast", 64, kRings, 0.8), step,
                    failure("rank 1 was lost")});
}

TEST(ScalingTables, AlignNumbersToTheRightAndNothingElse) {
  for (const Table& table : all_of<Table>(rich_report())) {
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      bool numbers = false, words = false;
      for (const auto& row : table.rows) {
        const std::string cell = plain(row.at(column));
        if (cell.empty() || cell == "-") continue;
        (begins_with_number(cell) ? numbers : words) = true;
      }
      if (!numbers && !words) continue;
      EXPECT_EQ(table.columns[column].numeric, numbers && !words)
          << table.caption << ": " << table.columns[column].title;
    }
  }
}

TEST(ScalingTables, StandInSectionsOfOneLevelAndEndWithWhatTheWordsMean) {
  const Document document = rich_report();
  EXPECT_THAT(all_of<Heading>(document), Each(testing::Field(&Heading::level, 1)));
  EXPECT_EQ(all_of<Table>(document).back().caption, "What the words mean");
}

}  // namespace
}  // namespace hbench::scaling_tables_test
