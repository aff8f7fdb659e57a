#include "tests/reports/default_sweep.hpp"

#include <map>
#include <set>
#include <sstream>

#include "analysis/bandwidth/crossover.hpp"
#include "analysis/choose/choice.hpp"
#include "analysis/compare/compare.hpp"
#include "analysis/points/lead.hpp"
#include "bench/output/reporting.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/formats/formats.hpp"
#include "reports/formats/plain_text.hpp"
#include "reports/scaling/scaling.hpp"
#include "reports/short_form.hpp"
#include "tests/reports/document_parts.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::default_sweep_test {
namespace {

class DefaultSweep : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    input_ = default_sweep();
    document_ = kScalingReport.build(input_);
    short_form_ = kScalingReport.build_short(input_);
  }
  static ReportInput input_;
  static Document document_, short_form_;
};
ReportInput DefaultSweep::input_;
Document DefaultSweep::document_;
Document DefaultSweep::short_form_;

TEST_F(DefaultSweep, OpensWithTheWorkloadOfTheVerdict) {
  EXPECT_THAT(std::get<Verdict>(document_.blocks.at(0)).text, StartsWith("128 GPUs, VGG-16, batch 64: horovod keeps "));
  const auto first = std::ranges::find_if(document_.blocks,
                                          [](const Block& block) { return std::holds_alternative<ChartGroup>(block); });
  ASSERT_LE(first - document_.blocks.begin(), 4) << "the charts come first";
  EXPECT_EQ(std::get<ChartGroup>(*first).charts.at(0).title, "VGG-16");
  EXPECT_THAT(std::get<Paragraph>(document_.blocks.at(2)).text,
              HasSubstr("Simulated; the mean error against published figures of these workloads is "));
  EXPECT_THAT(std::get<Paragraph>(document_.blocks.at(3)).text, HasSubstr("bands is "));
}

TEST_F(DefaultSweep, HasAChartForEachWorkloadAndShowsFewLinesOfIt) {
  const auto groups = all_of<ChartGroup>(document_);
  ASSERT_EQ(groups.size(), 2u);
  for (const ChartGroup& group : groups) {
    EXPECT_EQ(group.charts.size(), 5u);
    for (const Chart& chart : group.charts) {
      EXPECT_GE(shown_labels(chart).size(), 3u) << chart.id;
      EXPECT_LE(shown_labels(chart).size(), 6u * 5u) << chart.id;
    }
  }
}

TEST_F(DefaultSweep, HasAPanelForEachNetworkWithTheBestOfEitherSideCompressedAndPublished) {
  const Chart chart = all_of<ChartGroup>(document_).at(0).charts.at(0);
  EXPECT_TRUE(chart.panels);
  std::map<std::string, std::vector<const Series*>> panels;
  for (const Series& series : chart.series)
    if (series.shown && series.mark != Mark::ideal) panels[series.family].push_back(&series);
  EXPECT_EQ(panels.size(), 6U);
  for (const auto& [network, shown] : panels) {
    const auto begins = [&](const char* group) {
      return std::ranges::any_of(shown, [&](const Series* each) { return each->group.starts_with(group); });
    };
    EXPECT_TRUE(begins("horovod: ring") && begins("horovod: ring + fp16")) << network;
    EXPECT_TRUE(begins("tf-ps: ps") || begins("mxnet-ps: ps")) << network;
    EXPECT_LE(shown.size(), 5U) << network;
  }
  EXPECT_TRUE(std::ranges::any_of(chart.series, [](const Series& each) {
    return each.shown && each.mark == Mark::published;
  })) << "published figures are the strongest evidence";
}

TEST_F(DefaultSweep, FitsIntoACommentInItsShortForm) {
  const std::string text = render_within(9'500, short_form_, kMarkdownFormat);
  EXPECT_LT(text.size(), 9'500u);
  EXPECT_THAT(text, HasSubstr("128 GPUs, VGG-16, batch 64: horovod keeps"));
  EXPECT_THAT(text, HasSubstr("| ahead |"));
  EXPECT_THAT(text, HasSubstr("Measured on this machine"));
}

/// All-reduce and servers on one network at the most GPUs, as the report and the terminal compare them.
struct Compared {
  Match match;
  std::string report, terminal;  ///< the cells of the column `ahead`
};

std::string ahead_in(const Table& matrix, const Case& asked) {
  for (const auto& row : matrix.rows)
    if (row[0].starts_with(asked.workload + ", batch ") && row[1] == asked.profile) return row.back();
  return "no row";
}

std::vector<Compared> compared(const ReportInput& input, const Document& report) {
  std::vector<std::vector<std::string>> rows;
  for (const Table& table : all_of<Table>(report))
    if (table.caption.starts_with("All-reduce against parameter servers")) rows = table.rows;
  const Table matrix = all_of<Table>(summary(input.points, report)).at(0);
  std::vector<Compared> all;
  for (const Subject& subject : subjects_by_spread(input.points))
    for (const Match& match : best_of_sides(points_at_most_gpus(input.points, subject, Evidence::simulated))) {
      if (!match.both()) continue;
      const Case& asked = match.first->asked;
      Compared each{.match = match};
      for (const auto& row : rows)
        if (row[0] == input.workload_titles.at(asked.workload) && row[1].starts_with(asked.profile + " "))
          each.report = row.back();
      each.terminal = ahead_in(matrix, asked);
      all.push_back(std::move(each));
    }
  return all;
}

std::string said_by_compare(const Match& match) {
  const std::string profile = match.first->asked.profile, workload = match.first->asked.workload;
  const ComparisonAnswer answer{.asked = &ready_comparisons().front(),
                                .points = {*match.first, *match.second},
                                .titles = {{workload, workload}},
                                .labels = {{profile, profile}}};
  const Table table = all_of<Table>(comparison_document(answer)).at(0);
  for (const auto& row : table.rows)
    if (row.back() != "-") return row.back();
  return "nothing";
}

// Report, terminal, crossover, compare and choose: whoever asks gets one answer, 24 times.
TEST_F(DefaultSweep, HasOneAnswerToWhoIsAheadWhoeverIsAsked) {
  const Plan plan = default_plan();
  SimulatedRunner runner(plan.catalog);
  const std::vector<Compared> all = compared(input_, document_);
  EXPECT_EQ(all.size(), 24U);
  std::map<Ahead, int> count;
  for (const Compared& each : all) {
    const Match& match = each.match;
    SCOPED_TRACE(match.first->asked.key() + " against " + match.second->asked.strategy.label());
    const Lead lead = match.lead();
    ++count[lead.who()];
    const bool level = lead.verdict() == LeadVerdict::level, likely = lead.verdict() == LeadVerdict::likely;
    const std::string words = (lead.ratio < 1 ? lead.inverse() : lead).in_words();
    std::string cell = words;
    cell.replace(cell.find(" to "), 4, "-");
    const std::string band = cell.substr(cell.find('('));
    // Who is likely ahead is named with a question mark.
    const std::string name = lead.ratio > 1 ? "all-reduce" : "servers", mark = likely ? "? " : " ";
    EXPECT_EQ(each.report, level ? "level " + band : name + mark + cell);
    EXPECT_THAT(each.terminal, EndsWith(level ? "level " + band : mark + cell));

    const SimulatedStep first = runner.step(planned(match.first->asked)),
                        second = runner.step(planned(match.second->asked));
    const Fastest fastest = fastest_of({&first, &second});
    EXPECT_EQ(fastest.verdict, lead.verdict()) << "crossover";
    EXPECT_EQ(fastest.candidates.size(), level ? 2U : 1U) << "crossover";
    EXPECT_TRUE(level || fastest.candidates.front() == (lead.ratio > 1 ? 0U : 1U)) << "crossover";

    const std::vector<Alternative> chosen = best_strategies(
        make_alternatives({*match.first, *match.second}, {{match.first->asked.profile, {.gpus_per_node = 8}}}, {}));
    EXPECT_EQ(chosen.at(0).rivals.size(), level ? 1U : 0U) << "choose";
    const Point& quicker = lead.ratio > 1 ? *match.first : *match.second;
    EXPECT_TRUE(level || chosen.at(0).point.asked.key() == quicker.asked.key()) << "choose";

    EXPECT_EQ(said_by_compare(match), level ? "level" : likely ? "likely " + words : words);
  }
  EXPECT_GE(count[Ahead::first], 2);
  EXPECT_GE(count[Ahead::second], 2) << "ResNet-101 and ResNet-50 on 10 GbE";
}

TEST_F(DefaultSweep, FitsEightyColumnsInAFewLines) {
  std::istringstream text(text_of(summary(input_.points, document_), 80));
  int lines = 0;
  for (std::string line; std::getline(text, line); ++lines) EXPECT_LE(text_width(line), 80U) << line;
  EXPECT_LE(lines, 64) << "with the seven measured points";
}

TEST_F(DefaultSweep, NeverGivesTwoSeriesOfAChartOneLabel) {
  for (const ChartGroup& group : all_of<ChartGroup>(document_))
    for (const Chart& chart : group.charts) {
      std::set<std::string> labels;
      for (const Series& series : chart.series) EXPECT_TRUE(labels.insert(series.label).second) << series.label;
    }
}

TEST_F(DefaultSweep, GivesTheSameReportTwice) {
  const Document again = kScalingReport.build(default_sweep());
  for (const Format* format : formats()) EXPECT_EQ(format->render(again), format->render(document_)) << format->name;
}

}  // namespace
}  // namespace hbench::default_sweep_test
