/// The first line of `hbench learn`, and its pictures.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/learn/learning.hpp"
#include "tests/support/learning_case.hpp"

namespace hbench::learning_words_test {
namespace {

LearnedCase learned(const char* compressor, double accuracy) {
  LearnedCase made{.asked = learning_case(compressor, 3)};
  made.accuracy = {accuracy, accuracy - 0.01, accuracy + 0.01};
  made.launches = {{.launch = 0, .epochs = {{10, 40, accuracy, 1}}, .accuracy = accuracy}};
  return made;
}

Learning example(double wanted) {
  Learning learning{.wanted = wanted, .cases = {learned("none", 0.92), learned("topk:0.01", 0.8)}};
  learning.cases[0].step_bytes = 1e6;
  learning.cases[1].difference = LaunchMean{-0.12, -0.15, -0.09};
  learning.cases[1].kept = AccuracyKept::lost;
  return learning;
}

std::string verdict_of(const Learning& learning) {
  return std::get<Verdict>(learning_document(learning).blocks.front()).text;
}

TEST(LearningInWords, SaysWhoIsAccurateFirstAndWhoIsNot) {
  Learning learning = example(0.9);
  EXPECT_EQ(verdict_of(learning),
            "cnn1d on mnist1d, batch 50, 3 epochs: nothing is 90 % accurate in every launch; the nearest is ring on 2 "
            "ranks: 92.0 % (91.0 to 93.0). Accuracy is lost by: ring + topk:0.01.");
  learning.cases[0].seconds = LaunchMean{10, 9, 11};
  EXPECT_EQ(verdict_of(learning),
            "cnn1d on mnist1d, batch 50, 3 epochs: ring on 2 ranks is 90 % accurate first, after 10 s (9 to 11). "
            "Accuracy is lost by: ring + topk:0.01.");
  EXPECT_EQ(verdict_of(example(0)),
            "cnn1d on mnist1d, batch 50, 3 epochs: ring on 2 ranks is the most accurate: 92.0 % (91.0 to 93.0). "
            "Accuracy is lost by: ring + topk:0.01.");
}

TEST(LearningInWords, ComparesStepsAndAccuracyOnAnotherNetwork) {
  Learning learning = example(0.9);
  learning.cases[0].elsewhere =
      LearnedElsewhere{.profile = "hkbu-10gbe", .step = {0.2, 0.1, 0.3}, .seconds = LaunchMean{20, 10, 30}};
  learning.cases[1].elsewhere =
      LearnedElsewhere{.profile = "hkbu-10gbe", .step = {0.1, 0.1, 0.2}, .seconds = LaunchMean{40, 20, 60}};
  EXPECT_NE(
      verdict_of(learning).find(
          " On hkbu-10gbe (simulated) ring + topk:0.01 is 2 times as fast per step as ring, and 0.5 times to 90 %."),
      std::string::npos);
  learning.cases[1].elsewhere->seconds.reset();
  EXPECT_NE(verdict_of(learning).find("as ring, and does not reach 90 % in every launch."), std::string::npos);
  const auto json = nlohmann::json::parse(learning_json(learning)).at("cases");
  EXPECT_EQ(json.at(0).at("elsewhere").at("seconds_to_target").at("high"), 30);
  EXPECT_EQ(nlohmann::json::parse(learning_json(example(0.9))).at("cases").at(0).at("elsewhere"), nullptr);
}

TEST(LearningInWords, NamesAFewOfManyStrategies) {
  Learning learning = example(0);
  for (const char* each : {"sign", "onebit", "dgc"}) {
    learning.cases.push_back(learned(each, 0.1));
    learning.cases.back().kept = AccuracyKept::lost;
  }
  EXPECT_NE(verdict_of(learning).find("by: ring + topk:0.01; ring + sign; ring + onebit and 1 more."),
            std::string::npos);
}

TEST(LearningInWords, DrawsBytesOfThoseThatCountThem) {
  const Document document = learning_document(example(0.9));
  const auto& time = std::get<Chart>(document.blocks.at(1));
  const auto& bytes = std::get<Chart>(document.blocks.at(2));
  EXPECT_EQ(time.series.size(), 2U);
  ASSERT_EQ(bytes.series.size(), 1U);
  EXPECT_DOUBLE_EQ(bytes.series[0].points[0].x, 40);
}

TEST(LearningInWords, GivesToolsAccuracyAndTimeWithTheirDirections) {
  Learning learning = example(0.9);
  learning.cases[0].seconds = LaunchMean{10, 9, 11};
  const std::vector<ToolFigure> figures = learned_figures(learning);
  ASSERT_EQ(figures.size(), 3U) << "the second case has no time to 90 %";
  EXPECT_EQ(figures[0].name, "cnn1d ring on 2 ranks accuracy");
  EXPECT_FALSE(figures[0].larger_is_worse);
  EXPECT_EQ(figures[1].name, "cnn1d ring on 2 ranks to 90 %");
  EXPECT_TRUE(figures[1].larger_is_worse);
  EXPECT_EQ(figures[1].launches, Launch{10});
  EXPECT_EQ(figures[2].launches, Launch{0.8});
}

TEST(LearningInWords, SaysInJsonWhetherAccuracyIsKept) {
  const auto cases = nlohmann::json::parse(learning_json(example(0.9))).at("cases");
  EXPECT_EQ(cases.at(0).at("kept"), "reference");
  EXPECT_EQ(cases.at(1).at("kept"), "lost");
}

}  // namespace
}  // namespace hbench::learning_words_test
