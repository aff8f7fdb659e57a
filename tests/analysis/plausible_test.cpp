#include "analysis/plausible.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "analysis/points.hpp"
#include "collectives/base/error.hpp"
#include "example_results.hpp"

namespace hbench {
namespace {

using testing::HasSubstr;

/// What is said of a result; empty where it is taken.
std::string refusal(const CaseResult& result) {
  try {
    check_plausible(result);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::wrong_data);
    return error.what();
  }
}

CaseResult with(std::string metric, double value, std::string unit) {
  CaseResult result{.asked = example_case(), .samples = steps({{{1, 2}}})};
  result.producer.run = 7;
  result.samples.push_back(
      {.launch = 1, .rank = 2, .iteration = 3, .metric = std::move(metric), .value = value, .unit = std::move(unit)});
  return result;
}

TEST(AnImplausibleFigure, IsNamedWithItsCase) {
  const std::string said = refusal(with("step_seconds", -0.5, "s"));
  for (const char* fact :
       {"measured resnet50", "on 4 GPUs", "run 7", "step_seconds", "launch 1", "rank 2", "iteration 3", "-0.5"})
    EXPECT_THAT(said, HasSubstr(fact));
}

TEST(AnImplausibleFigure, IsBelowZeroOrZeroWhereNothingTakesNoTimeOrNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const char* metric :
       {"step_seconds", "in_place_seconds", "step_seconds_low", "throughput", "efficiency", "baseline_throughput"})
    for (const double value : {0.0, -1.0, kInfinity, -kInfinity, kNan})
      EXPECT_NE(refusal(with(metric, value, "x")), "") << metric << ' ' << value;
  for (const double value : {-1e-9, kInfinity, kNan})
    EXPECT_NE(refusal(with("ledger/exposed", value, "s")), "") << value;
  EXPECT_EQ(refusal(with("ledger/exposed", 0, "s")), "") << "everything may be hidden";
  EXPECT_EQ(refusal(with("gpu_temperature", -5, "C")), "") << "it may be cold";
  EXPECT_EQ(refusal(with("step_seconds", 1e-12, "s")), "");
}

TEST(AnImplausibleFigure, OfAFailedCaseIsNotLookedAt) {
  CaseResult failed = with("step_seconds", -1, "s");
  failed.status = CaseStatus::failed;
  EXPECT_EQ(refusal(failed), "");
}

TEST(AnImplausibleFigure, MayBeTheWorldItself) {
  CaseResult result = with("step_seconds", 1, "s");
  result.asked.gpus = 0;
  EXPECT_THAT(refusal(result), HasSubstr("0 workers"));
}

TEST(AnImplausibleFigure, MakesNoPoints) {
  EXPECT_THROW(make_points({with("step_seconds", -1, "s")}), Error);
  EXPECT_THROW(make_points({}, {with("step_seconds", -1, "s")}), Error) << "nor a baseline";
}

}  // namespace
}  // namespace hbench
