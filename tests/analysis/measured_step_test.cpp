/// A step that somebody has measured, and what it makes of steps on other numbers of GPUs.

#include "analysis/prediction/measured_step.hpp"
#include "analysis/prediction/plan.hpp"

#include <fmt/format.h>

#include <cmath>

#include "analysis/prediction/simulate.hpp"
#include "analysis/prediction/validate.hpp"
#include "analysis/published/published.hpp"
#include "collectives/base/units_text.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::measured_step_test {
namespace {

Data data() {
  return {ProfileLibrary(HBENCH_SOURCE_DIR "/cluster-profiles"), TraceLibrary(HBENCH_SOURCE_DIR "/workloads/traces")};
}

PredictionRequest request() {
  PredictionRequest request;
  request.gpus = {1, 8, 16, 64};
  request.workloads = {"vgg16"};
  request.profiles = {"aws-p3-25gbe"};
  request.presets = {"ddp"};
  return request;
}

std::vector<SimulatedStep> steps(const PredictionRequest& asked) {
  const Plan plan = plan_predictions(asked, data(), {});
  SimulatedRunner runner(plan.catalog);
  std::vector<SimulatedStep> all;
  for (const PlannedCase& each : plan.cases) all.push_back(runner.step(each));
  return all;
}

/// Whether one row is another number of GPUs of the training of another row.
bool is_same_training(const Validation& one, const Validation& other) {
  return one.asked.gpus != other.asked.gpus && one.residual.source == other.residual.source &&
         one.asked.profile == other.asked.profile && one.asked.workload == other.asked.workload &&
         one.asked.strategy == other.asked.strategy && one.asked.batch_per_gpu == other.asked.batch_per_gpu &&
         one.mixed_precision == other.mixed_precision && std::abs(one.rate / other.rate - 1) < 1e-6;
}

TEST(OneMeasuredStep, MakesOthersOfTheSameTrainingRight) {
  const Data known = data();
  const std::vector<Validation> all = validate(published_results(), known);
  double without = 0, with = 0, held = 0, pairs = 0, width = 0, width_with = 0;
  for (const Validation& measured : all) {
    if (known.profiles.load(measured.asked.profile).nodes_of(measured.asked.gpus) == 1) continue;
    const double all_shift = kShiftByStep * std::log(measured.published / measured.predicted);
    for (const Validation& other : all) {
      if (!is_same_training(measured, other)) continue;
      const bool inside = known.profiles.load(other.asked.profile).nodes_of(other.asked.gpus) == 1;
      const double shift = all_shift * (inside ? 1 - measured.residual.communication : 1);
      const double off = std::log(other.published / other.predicted);
      const double slower = std::log(other.high / other.predicted), faster = std::log(other.predicted / other.low);
      without += std::abs(std::expm1(-off));
      with += std::abs(std::expm1(shift - off));
      held += off - shift <= left_by_step(slower) && shift - off <= left_by_step(faster) ? 1 : 0;
      width += slower + faster;
      width_with += left_by_step(slower) + left_by_step(faster);
      ++pairs;
    }
  }
  EXPECT_GE(pairs, 190);
  EXPECT_LT(with / pairs, 0.06) << without / pairs << " without it";
  EXPECT_LT(with, 0.7 * without);
  EXPECT_GT(held / pairs, 0.85);
  EXPECT_LT(width_with, 0.75 * width);
}

TEST(OneMeasuredStep, MovesAndNarrowsTheStepsOfAllNumbersOfGpusButOne) {
  PredictionRequest asked = request();
  const std::vector<SimulatedStep> before = steps(asked);
  asked.measured = {.time = before.at(3).step() * 1.2, .gpus = 64};
  const std::vector<SimulatedStep> after = steps(asked);
  EXPECT_DOUBLE_EQ(after.at(0).step().value, before.at(0).step().value);
  const double network = before.at(3).times.communication / before.at(3).times.step;
  EXPECT_GT(network, 0.3) << "most of what is off is the network's, which one node does not have";
  EXPECT_NEAR(after.at(1).step() / before.at(1).step(), std::pow(1.2, kShiftByStep * (1 - network)), 1e-9);
  for (const std::size_t i : {2, 3}) {
    EXPECT_NEAR(after[i].step() / before[i].step(), std::pow(1.2, kShiftByStep), 1e-9);
    EXPECT_LT(after[i].high / after[i].low, before[i].high / before[i].low);
    EXPECT_LE(after[i].low, after[i].step());
    EXPECT_GE(after[i].high, after[i].step());
    EXPECT_LT(largest(after[i].unknowns).size(), largest(before[i].unknowns).size());
  }
  asked.measured.gpus = 0;
  EXPECT_EQ(steps(asked).at(2).step(), after.at(2).step()) << "it is of the most GPUs where nobody says";
  asked.measured = {.time = before.at(3).step() * 0.5, .gpus = 64};
  EXPECT_DOUBLE_EQ(steps(asked).at(1).step().value, steps(asked).at(1).times.alone.value)
      << "communication makes no GPU faster";
}

TEST(OneMeasuredStep, IsReadWithItsGpus) {
  EXPECT_DOUBLE_EQ(parse_measured_step("313ms@32").time.value, 0.313);
  EXPECT_EQ(parse_measured_step("313ms@32").gpus, 32);
  EXPECT_EQ(parse_measured_step("1.2 s").gpus, 0);
  for (const char* bad : {"0s", "-1s@8", "1s@", "1s@1", "1s@many", "1s@-8"})
    expect_usage_error([&] { parse_measured_step(bad); }, fmt::format("'{}' is no step of several GPUs", bad),
                       "313ms@32");
  expect_usage_error([] { parse_measured_step("fast"); },
                     "invalid duration 'fast': expected a number and s, ms, us, ns or min", "write it like");
}

TEST(OneMeasuredStep, IsOfOneTrainingAndNearWhatIsSimulated) {
  const char* kOneTraining = "a measured step is of one workload, cluster, strategy and batch per GPU";
  PredictionRequest asked = request();
  const Seconds simulated = steps(asked).at(2).step();
  asked.measured = {.time = simulated * 21, .gpus = 16};
  expect_usage_error([&] { steps(asked); },
                     fmt::format("a step on 16 GPUs of aws-p3-25gbe is simulated to take {}, not {}", format(simulated),
                                 format(simulated * 21)),
                     "--batch");
  asked.measured = {.time = Seconds(0.5), .gpus = 16};
  asked.workloads.emplace_back("resnet50");
  expect_usage_error([&] { steps(asked); }, kOneTraining, "name them");
  asked = request();
  asked.measured = {.time = Seconds(0.5), .gpus = 32};
  expect_usage_error([&] { steps(asked); }, "the step is of 32 GPUs, which are not asked for", "add them to --gpus");
  asked.measured = {.time = Seconds(0.5), .gpus = 16};
  asked.presets.emplace_back("horovod");
  expect_usage_error([&] { steps(asked); }, kOneTraining, "name them");
}

}  // namespace
}  // namespace hbench::measured_step_test
