#include "tests/reports/default_sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "reports/formats/formats.hpp"
#include "reports/short_form.hpp"
#include "tests/reports/document_parts.hpp"

namespace hbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class DefaultSweep : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const ReportInput input = default_sweep();
    document_ = kScalingReport.build(input);
    short_form_ = kScalingReport.build_short(input);
  }
  static Document document_, short_form_;
};
Document DefaultSweep::document_;
Document DefaultSweep::short_form_;

TEST_F(DefaultSweep, OpensWithTheWorkloadOfTheVerdict) {
  EXPECT_THAT(std::get<Verdict>(document_.blocks.at(0)).text,
              testing::StartsWith("Simulated: at 128 GPUs VGG-16 keeps "));
  EXPECT_THAT(std::get<Paragraph>(document_.blocks.at(1)).text,
              HasSubstr("Simulated; the mean error against published"));
  EXPECT_EQ(std::get<ChartGroup>(document_.blocks.at(2)).charts.at(0).title, "VGG-16");
}

TEST_F(DefaultSweep, HasAChartForEachWorkloadAndShowsFewLinesOfIt) {
  const auto groups = all_of<ChartGroup>(document_);
  ASSERT_EQ(groups.size(), 2u);
  for (const ChartGroup& group : groups) {
    EXPECT_EQ(group.charts.size(), 5u);
    for (const Chart& chart : group.charts) {
      EXPECT_GE(shown_labels(chart).size(), 3u) << chart.id;
      EXPECT_LE(shown_labels(chart).size(), 12u) << chart.id;
    }
  }
}

TEST_F(DefaultSweep, ShowsServersOfBothPlacementsBesideTheRingInTheFirstChart) {
  const auto labels = shown_labels(all_of<ChartGroup>(document_).at(0).charts.at(0));
  for (const char* network : {"Azure ND96asr v4 (A100 SXM4)", "25 GbE, TCP, P100 16 GB",
                              "plain 10 GbE (RTX 2080 "
                              "Ti class)"})
    for (const char* strategy : {"ring on ", "ps (greedy, ", "ps (sliced, "})
      EXPECT_THAT(labels, testing::Contains(AllOf(testing::StartsWith(strategy), testing::EndsWith(network))));
}

TEST_F(DefaultSweep, FitsIntoACommentInItsShortForm) {
  const std::string text = render_within(9'500, short_form_, kMarkdownFormat);
  EXPECT_LT(text.size(), 9'500u);
  EXPECT_THAT(text, HasSubstr("Simulated: at 128 GPUs VGG-16"));
  EXPECT_THAT(text, HasSubstr("| ahead |"));
  EXPECT_THAT(text, HasSubstr("Measured on this machine"));
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
}  // namespace hbench
