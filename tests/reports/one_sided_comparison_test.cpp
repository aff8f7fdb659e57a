// A comparison of frameworks of which one side is not installed: the other stands beside hbench's ring.

#include <gmock/gmock.h>

#include "reports/compare/comparison.hpp"
#include "tests/reports/scaling_points.hpp"

namespace hbench::one_sided_comparison_test {
namespace {

constexpr std::array kSides{MeasuredSide{"Horovod", "horovod"}, MeasuredSide{"TensorFlow", "tensorflow"}};

/// By a framework, or by hbench itself, in launches that took turns.
Point trained_by(const std::string& framework, double efficiency) {
  Strategy strategy = kRings;
  strategy.framework = framework;
  if (!framework.empty()) strategy.framework_version = "1.0";
  Point point = measured(2, strategy, efficiency);
  for (const double drift : {1.0, 1.02, 0.99, 1.01})
    point.timed.push_back({.step = point.step_seconds * drift, .baseline = 0.32 * drift});
  return point;
}

TEST(OneSidedComparison, ComparesWithTheRingAndSaysHowTheOtherSideIsInstalled) {
  struct Row {
    std::vector<Point> points;
    const char* missing;
    const char* answer;
  };
  const Point ring = trained_by("", 0.8);
  for (const Row& row : std::vector<Row>{
           {{ring, trained_by("horovod", 0.4), trained_by("horovod:gloo", 0.2)},
            "TensorFlow",
            "hbench's ring is ahead of Horovod: 2.0 (2.0 to 2.0) times as fast (horovod 1.0 against ring, ResNet-18 at "
            "64x64 "
            "on 2 CPU ranks of this machine). TensorFlow was not measured: not installed (fix: pip install it)."},
           {{ring, trained_by("tensorflow-ps", 0.4)},
            "Horovod",
            "hbench's ring is ahead of TensorFlow: 2.0 (2.0 to 2.0) times as fast (ring against tensorflow-ps 1.0, "
            "ResNet-18 "
            "at 64x64 on 2 CPU ranks of this machine). Horovod was not measured: not installed (fix: pip install it)."},
           {{ring},
            "TensorFlow",
            "No answer: no launch of Horovod was good. TensorFlow was not measured: not installed (fix: pip install "
            "it)."}}) {
    const Refusal missing{row.missing, "not installed (fix: pip install it)"};
    const Document document = framework_comparison(input_of(row.points), kSides, missing);
    EXPECT_EQ(plain(all_of<Verdict>(document).front().text), row.answer);
    EXPECT_EQ(rows_of(document, "Measured in turn, the quickest first").size(), row.points.size());
  }
}

}  // namespace
}  // namespace hbench::one_sided_comparison_test
