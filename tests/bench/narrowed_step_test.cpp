// Whose band is mostly one thing that the user knows, of simulated steps.

#include <gtest/gtest.h>

#include "analysis/points/points.hpp"
#include "analysis/prediction/simulate.hpp"
#include "tests/bench/plan_example.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::narrowed_step_test {
namespace {

TEST(NarrowedStep, IsThatOfFullFastNodesAndOfFrameworksThatNobodyNames) {
  struct {
    const char *why, *profile, *preset;
    int gpus;
    double node_rate;
    std::optional<UnknownKind> kind;
  } const rows[] = {{"nobody names the framework", "aws-p5", "", 8, 0, UnknownKind::framework},
                    {"fast GPUs need much input", "aws-p5", "ddp", 8, 0, UnknownKind::input},
                    {"what the node makes is known", "aws-p5", "ddp", 8, 17'000, std::nullopt},
                    {"slow GPUs need little input", "hkbu-10gbe", "ddp", 4, 0, std::nullopt},
                    {"the network counts as well", "hkbu-10gbe", "ddp", 32, 0, std::nullopt}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.why);
    SweepRequest request = small_request();
    request.gpus = {row.gpus};
    request.profiles = {row.profile};
    request.node_rate = row.node_rate;
    if (*row.preset != '\0') {
      request.algorithms.clear();
      request.presets = {row.preset};
    }
    const Plan plan = plan_of(request);
    SimulatedRunner runner(plan.catalog);
    const CaseResult result = runner.run(plan.cases.at(0));
    const SimulatedStep step = runner.step(plan.cases.at(0));
    ASSERT_EQ(step.narrowed.has_value(), row.kind.has_value());
    const Point point = make_points({result}).front();
    ASSERT_EQ(point.narrowed.has_value(), row.kind.has_value());
    if (!row.kind) continue;
    EXPECT_EQ(point.narrowed->kind, *row.kind);
    EXPECT_GT(point.narrowed->band.low, *point.efficiency_low);
    EXPECT_GE(point.narrowed->band.stated, *point.efficiency - 1e-9);
    EXPECT_DOUBLE_EQ(point.narrowed->band.high, *point.efficiency_high) << "these things make a step only slower";
  }
}

/// Of 8 GPUs that are known to make `node_rate` samples/s together.
Point point_with(SweepRequest request, double node_rate) {
  request.fusions = {"ddp"};  // Horovod's cycles are as long as some per cent of a step
  request.node_rate = node_rate;
  const Plan plan = plan_of(request);
  return make_points({SimulatedRunner(plan.catalog).run(plan.cases.at(0))}).front();
}

TEST(NodeRate, MakesTheGpusFasterThatNobodyMeasuredAndNoStepFasterThanItsComputation) {
  SweepRequest request = small_request();
  request.gpus = {8};
  request.profiles = {"aws-p5"};
  request.batch = 64;
  const double alone = 8 * 64 / point_with(request, 0).step_seconds / *point_with(request, 0).efficiency;
  const Point faster = point_with(request, 1.5 * alone);
  EXPECT_NEAR(8 * 64 / faster.step_seconds, 1.5 * alone, 0.002 * alone);
  EXPECT_LE(*faster.efficiency, 1);
  EXPECT_GT(*faster.efficiency, 0.9);
  const Point slower = point_with(request, 0.8 * alone);
  EXPECT_NEAR(8 * 64 / slower.step_seconds, 0.8 * alone, 0.02 * alone);
  EXPECT_NEAR(*slower.efficiency, 0.8, 0.02);
}

TEST(NodeRate, ThatWasMeasuredCountsMoreThanWhatAModelSaysOfItsGpus) {
  SweepRequest request = small_request();
  request.gpus = {8};
  request.workloads = {"transformer:kind=bert,layers=24,hidden=1024,heads=16,vocab=30522,seq=128"};
  request.profiles = {"dgx-1-v100"};
  request.batch = 32;
  request.precision = "fp16";
  const Point modelled = point_with(request, 0);
  EXPECT_THAT(modelled.baseline, HasSubstr("one GPU (modelled)"));
  const Point measured = point_with(request, 3 * 8 * 32 / modelled.step_seconds);
  EXPECT_NEAR(measured.step_seconds, modelled.step_seconds / 3, 0.01 * modelled.step_seconds);
  EXPECT_THAT(measured.baseline, StartsWith("one GPU without"));
}

TEST(NodeRate, ThatNoSuchNodeMakesIsRefusedWithTheBatchOfTheQuestion) {
  SweepRequest request = small_request();
  request.gpus = {8};
  request.profiles = {"aws-p5"};
  request.batch = 16;
  expect_error([&] { point_with(request, 1e9); }, ExitCode::usage, HasSubstr("at batch 16 and ideal speed"),
               HasSubstr("--single-gpu-rate"));
  request.single_gpu_rate = 1000;
  expect_error([&] { point_with(request, 8500); }, ExitCode::usage, HasSubstr("make 8000 samples/s"),
               HasSubstr("both rates of one workload"));
  EXPECT_LE(*point_with(request, 8300).efficiency, 1.0 + 1e-9) << "rates differ by some per cent from run to run";
}

}  // namespace
}  // namespace hbench::narrowed_step_test
