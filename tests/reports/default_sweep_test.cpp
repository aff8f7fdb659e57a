#include "tests/reports/default_sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "reports/formats.hpp"
#include "tests/reports/document_parts.hpp"

namespace hbench {
namespace {

using testing::HasSubstr;

class DefaultSweep : public testing::Test {
 protected:
  static void SetUpTestSuite() { document_ = kScalingReport.build(default_sweep()); }
  static Document document_;
};
Document DefaultSweep::document_;

TEST_F(DefaultSweep, OpensWithTheWorkloadOfTheVerdict) {
  EXPECT_THAT(std::get<Verdict>(document_.blocks.at(0)).text, HasSubstr("At 128 GPUs VGG-16 keeps "));
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
