#include "analysis/points/plausible.hpp"

#include <limits>

#include "analysis/points/points.hpp"
#include "collectives/base/error.hpp"
#include "example_results.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::plausible_test {
namespace {

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

TEST(AnImplausibleFigure, IsATimeThatNothingTakes) {
  for (const char* metric : {"step_seconds", "in_place_seconds", "seconds"})
    for (const double value : {1e-13, 1e-310, 1e11, 1e27})
      EXPECT_THAT(refusal(with(metric, value, "s")), HasSubstr("for anything real")) << metric << ' ' << value;
  EXPECT_EQ(refusal(with("ledger/exposed", 1e27, "s")),
            "measured resnet50 ps (greedy, dedicated) + fp16, horovod:64MiB:5ms, no overlap on 4 GPUs of run 7: "
            "ledger/exposed of launch 1, rank 2, iteration 3 is too large for anything real: 1e+27 s");
  EXPECT_EQ(refusal(with("launch_began", 1795620980, "s")), "") << "a time of day";
}

TEST(AnImplausibleFigure, IsACountBelowZero) {
  for (const char* metric : {"wire_bytes", "plain_wire_bytes", "in_place_wrong"})
    EXPECT_THAT(refusal(with(metric, -1, "")), HasSubstr("below 0")) << metric;
  EXPECT_EQ(refusal(with("wire_bytes", 0, "")), "") << "through shared memory";
  EXPECT_EQ(refusal(with("relative_l2_error", std::numeric_limits<double>::infinity(), "1")), "")
      << "of a result that should be 0";
}

TEST(AnImplausibleSample, IsOfARankALaunchOrAnIterationThatTheCaseHasNot) {
  CaseResult result = with("step_seconds", 1, "s");
  result.asked.processes_per_gpu = 0;
  result.asked.strategy.servers = 0;
  result.samples.back().rank = 3;
  EXPECT_EQ(refusal(result), "");
  result.samples.back().rank = 4;
  EXPECT_EQ(refusal(result),
            "measured resnet50 ps (greedy, dedicated) + fp16, horovod:64MiB:5ms, no overlap on 4 GPUs of run 7: "
            "step_seconds of launch 1, rank 4, iteration 3: the case has 4 ranks");
  result.asked.strategy.servers = 2;
  EXPECT_EQ(refusal(result), "") << "servers are ranks too";
  result.samples.back().rank = -1;
  EXPECT_EQ(refusal(result),
            "measured resnet50 ps (greedy, dedicated) + fp16, horovod:64MiB:5ms, no overlap on 4 GPUs of run 7: "
            "step_seconds of launch 1, rank -1, iteration 3: the case has 6 ranks");
  result.samples.back() = {.launch = -1, .metric = "step_seconds", .value = 1, .unit = "s"};
  EXPECT_EQ(refusal(result),
            "measured resnet50 ps (greedy, dedicated) + fp16, horovod:64MiB:5ms, no overlap on 4 GPUs of run 7: "
            "step_seconds of launch -1, rank 0, iteration 0: launches and iterations are counted from 0");
  result.samples.back() = {.iteration = -1, .metric = "step_seconds", .value = 1, .unit = "s"};
  EXPECT_EQ(refusal(result),
            "measured resnet50 ps (greedy, dedicated) + fp16, horovod:64MiB:5ms, no overlap on 4 GPUs of run 7: "
            "step_seconds of launch 0, rank 0, iteration -1: launches and iterations are counted from 0");
}

TEST(AnImplausibleCase, IsDoneWithoutATimedSample) {
  CaseResult result = with("step_seconds", 1, "s");
  EXPECT_EQ(implausible(result), "");
  for (Sample& sample : result.samples) sample.warmup = true;
  EXPECT_FALSE(has_figure(result));
  EXPECT_EQ(implausible(result),
            "measured resnet50 ps (greedy, dedicated) + fp16, horovod:64MiB:5ms, no overlap on 4 GPUs of run 7: it is "
            "done, and has no timed sample of what it is known by");
  EXPECT_EQ(refusal(result), "") << "readers leave it out";
  result.samples = {{.metric = "wire_bytes", .value = 1}};
  EXPECT_FALSE(has_figure(result));
  result.status = CaseStatus::failed;
  EXPECT_EQ(implausible(result), "");
  CaseResult published{.asked = example_case(Evidence::published)};
  published.samples = {{.metric = "efficiency", .value = 0.9}};
  EXPECT_TRUE(has_figure(published));
}

TEST(AnImplausibleRun, IsOfTheFuture) {
  constexpr std::chrono::sys_seconds kNow = std::chrono::sys_days(std::chrono::year(2026) / 11 / 25);
  const auto fault = [&](const char* date) { return implausible(hbench::Run{.started_at = date}, kNow); };
  EXPECT_EQ(fault("2026-11-25T23:00:00Z"), "") << "of a clock that is fast";
  EXPECT_EQ(fault("2017-01-01T00:00:00Z"), "");
  EXPECT_THAT(fault("2026-11-26T00:00:01Z"), HasSubstr("in the future"));
  EXPECT_THAT(fault("2999-01-01T00:00:00Z"), HasSubstr("in the future"));
  EXPECT_EQ(fault("yesterday"), "the run began at 'yesterday', which is no time");
}

TEST(AnImplausibleFigure, OfAFailedCaseIsNotLookedAt) {
  CaseResult failed = with("step_seconds", -1, "s");
  failed.status = CaseStatus::failed;
  EXPECT_EQ(refusal(failed), "");
}

TEST(AnImplausibleFigure, MayBeTheWorldItself) {
  CaseResult result = with("step_seconds", 1, "s");
  result.asked.gpus = 0;
  EXPECT_EQ(
      refusal(result),
      "measured resnet50 ps (greedy, dedicated) + fp16, horovod:64MiB:5ms, no overlap on 0 GPUs of run 7: 0 GPUs");
  result.asked.gpus = 2;
  result.asked.batch_per_gpu = 2'000'000'000;
  EXPECT_EQ(refusal(result),
            "measured resnet50 ps (greedy, dedicated) + fp16, horovod:64MiB:5ms, no overlap on 2 GPUs of run 7: "
            "batch_per_gpu is 2000000000");
}

TEST(AnImplausibleFigure, MakesNoPoints) {
  EXPECT_THROW(make_points({with("step_seconds", -1, "s")}), Error);
  EXPECT_THROW(make_points({}, {with("step_seconds", -1, "s")}), Error) << "nor a baseline";
}

}  // namespace
}  // namespace hbench::plausible_test
