// Horovod or TensorFlow, measured: the first line answers, and what took turns stands below it.

#include "reports/compare/comparison.hpp"

#include "tests/reports/scaling_points.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::framework_comparison_test {
namespace {

constexpr std::array kSides{MeasuredSide{"Horovod", "horovod"}, MeasuredSide{"TensorFlow", "tensorflow"}};

Point trained_by(const std::string& framework, double efficiency) {
  Strategy strategy = kRings;
  strategy.framework = framework, strategy.framework_version = "1.0";
  Point point = measured(2, strategy, efficiency);
  // Launches that took turns: rounds differ, and what is in one differs alike.
  for (const double drift : {1.0, 1.02, 0.99, 1.01})
    point.timed.push_back({.step = point.step_seconds * drift, .baseline = 0.32 * drift});
  return point;
}

std::string answer_on(std::vector<Point> points) {
  return plain(all_of<Verdict>(framework_comparison(input_of(std::move(points)), kSides)).front().text);
}

TEST(FrameworkComparison, SaysByHowMuchTheQuickerSideIsAheadByItsBestFrameworks) {
  const std::string answer =
      answer_on({measured(2, kRings, 0.9), trained_by("horovod", 0.4), trained_by("horovod:gloo", 0.6),
                 trained_by("tensorflow-ring", 0.3), trained_by("tensorflow-ps", 0.2)});
  EXPECT_EQ(answer,
            "Horovod is ahead of TensorFlow: 2.0 (2.0 to 2.0) times as fast (horovod:gloo 1.0 against tensorflow-ring "
            "1.0, ResNet-18 at 64x64 on 2 CPU ranks of this machine).");
}

TEST(FrameworkComparison, NamesTheOtherSideFirstWhereItIsAhead) {
  EXPECT_EQ(answer_on({trained_by("horovod", 0.3), trained_by("tensorflow-ps", 0.6)}),
            "TensorFlow is ahead of Horovod: 2.0 (2.0 to 2.0) times as fast (horovod 1.0 against tensorflow-ps 1.0, "
            "ResNet-18 at 64x64 on 2 CPU ranks of this machine).");
}

TEST(FrameworkComparison, CallsLevelWhatTheLaunchesDoNotTellApart) {
  EXPECT_EQ(answer_on({trained_by("horovod", 0.5), trained_by("tensorflow-ps", 0.5)}),
            "Horovod and TensorFlow are level: 1.00 (1.00 to 1.00) times as fast (horovod 1.0 against tensorflow-ps "
            "1.0, ResNet-18 at 64x64 on 2 CPU ranks of this machine).");
}

TEST(FrameworkComparison, HasNoAnswerWhereASideHasNoGoodLaunch) {
  EXPECT_EQ(answer_on({trained_by("horovod", 0.5)}), "No answer: no launch of TensorFlow was good.");
}

TEST(FrameworkComparison, ListsAllThatTookTurnsAndSaysWhatItDoesNotSayOfGpus) {
  const Document document = framework_comparison(
      input_of({measured(2, kRings, 0.9), trained_by("horovod", 0.45), trained_by("tensorflow-ps", 0.3)}), kSides);
  const auto rows = rows_of(document, "Measured in turn, the quickest first");
  ASSERT_EQ(rows.size(), 3);
  EXPECT_THAT(rows[0], AllOf(Contains("hbench, ring"), Contains("-")));
  EXPECT_EQ(rows[1].front(), "horovod 1.0");
  EXPECT_EQ(rows[1].back(), "2.0 (1.8 to 2.2)");
  EXPECT_THAT(all_of<Paragraph>(document).front().text, HasSubstr("not who is quicker there"));
}

}  // namespace
}  // namespace hbench::framework_comparison_test
