
#include "analysis/records/metrics.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "reports/formats/formats.hpp"
#include "reports/scaling/words.hpp"
#include "tests/reports/scaling_points.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::scaling_report_test {
namespace {

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

TEST(ScalingReport, ShowsCollectivesAndBenchmarksByTheirNamesAndFigures) {
  CaseResult collective, benchmark;
  collective.asked.evidence = benchmark.asked.evidence = Evidence::measured;
  collective.asked.collective = {.name = "all-reduce", .bytes = 1 << 20, .executor = "nccl-tests"};
  collective.asked.strategy.algorithm = "vendor";
  collective.asked.gpus = 16;
  collective.asked.nodes = 2;
  collective.machine_in_words = benchmark.machine_in_words = "lab3";
  collective.samples = {{.metric = std::string(metric::kOutOfPlace), .value = 46e-6, .unit = "s"}};
  benchmark.asked.benchmark = "p sort";
  benchmark.samples = {{.metric = std::string(metric::kBenchmarkSeconds), .value = 1.5e-3, .unit = "s"}};
  ReportInput input = input_of({});
  input.alone = {collective, benchmark};
  const Document document = kScalingReport.build(input);
  EXPECT_EQ(std::get<Verdict>(document.blocks.at(0)).text,
            "No training was timed; below are the collectives and benchmarks that were.");
  EXPECT_THAT(
      all_of<Table>(document).at(0).rows,
      ElementsAre(ElementsAre("all-reduce of 1MiB, 16 ranks, vendor by nccl-tests", "2 x 8", "46 us", "1", "lab3"),
                  ElementsAre("p sort", "-", "1.5 ms", "1", "lab3")));
}

TEST(ScalingReport, WarnsOfFailuresBelowTheVerdictAndListsThem) {
  const Document document = report_on({simulated("vgg16", "slow", 4, kRings, 0.9), failure("out of time")});
  EXPECT_EQ(plain(std::get<Verdict>(document.blocks.at(0)).text),
            "4 GPUs, VGG-16, batch 32: ring keeps 90 % of ideal speed on slow (10 GbE), simulated.");
  EXPECT_THAT(std::get<Warnings>(document.blocks.at(2)).texts,
              ElementsAre("1 of 2 cases failed; the reasons are below"));
  EXPECT_EQ(all_of<Table>(document).at(0).caption, "Failed cases");
}

TEST(ScalingReport, TellsWhatRanWhere) {
  ReportInput input = input_of({simulated("vgg16", "slow", 4, kRings, 0.9)});
  input.runs = {{.command = "hbench sweep",
                 .version = "0.1.0",
                 .started_at = "2026-01-02T03:04:05Z",
                 .environment = {{"cpu", "x"}}}};
  EXPECT_THAT(
      rows_of(kScalingReport.build(input), "Run of 2026-01-02T03:04:05Z"),
      ElementsAre(ElementsAre("command", "hbench sweep"), ElementsAre("hbench", "0.1.0"), ElementsAre("cpu", "x")));
}

TEST(ScalingReport, DrawsEachMethodOfTrainingOnceWhereThereIsAnother) {
  Point synchronous = simulated("vgg16", "slow", 4, kRings, 0.9), sharded = synchronous, unknown = synchronous;
  EXPECT_THAT(all_of<Lanes>(report_on({synchronous})), IsEmpty());
  sharded.asked.strategy.method = "zero:1";
  unknown.asked.strategy.method = "of-a-newer-hbench";
  const std::vector<Lanes> pictures = all_of<Lanes>(report_on({synchronous, sharded, sharded, unknown}));
  ASSERT_EQ(pictures.size(), 2u);
  EXPECT_THAT(pictures.back().title, StartsWith("zero:1: "));
  EXPECT_EQ(pictures.back().rows.size(), 3u);
  EXPECT_THAT(kHtmlFormat.render({.blocks = {pictures.back()}}), HasSubstr(">all-gather parameters</text>"));
}

TEST(ScalingReport, FoldsMoreThanTenFailuresAway) {
  for (const std::size_t failures : {10, 11}) {
    std::vector<Point> points{simulated("vgg16", "slow", 4, kRings, 0.9)};
    for (std::size_t i = 0; i < failures; ++i) points.push_back(failure("rank 1 was lost"));
    for (const Table& table : all_of<Table>(kScalingReport.build(input_of(points))))
      if (table.caption == "Failed cases") {
        EXPECT_EQ(table.rows.size(), failures);
        EXPECT_EQ(table.folded, failures == 11);
      }
  }
}

TEST(ScalingReport, SurvivesHostileNames) {
  const std::string hostile = "</script><script>alert(1)</script>|\n`\x1b[31m\xff\"'";
  Point ours = simulated(hostile, hostile, 4, kRings, 0.9), theirs = ours, lost = failure(hostile);
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
    EXPECT_STREQ(error.what(), "no report 'scalign'; did you mean 'scaling'?");
  }
}

}  // namespace
}  // namespace hbench::scaling_report_test
