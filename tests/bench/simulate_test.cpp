#include "bench/simulate.hpp"

#include <gmock/gmock.h>

#include "tests/bench/plan_example.hpp"

namespace hbench {
namespace {

std::vector<std::pair<std::string, double>> values(const CaseResult& result) {
  std::vector<std::pair<std::string, double>> all;
  for (const Sample& sample : result.samples) all.emplace_back(sample.metric, sample.value);
  return all;
}

double value(const CaseResult& result, std::string_view metric) {
  for (const Sample& sample : result.samples)
    if (sample.metric == metric) return sample.value;
  ADD_FAILURE() << "no " << metric;
  return 0;
}

/// Worlds, servers and networks in an order that changes all of them.
Plan varied_plan() {
  SweepRequest request = small_request();
  request.gpus = {1, 2, 12};
  request.profiles = {"hkbu-10gbe", "azure-nd96asr-v4"};
  request.algorithms = {"ring", "ps"};
  request.compressors = {"none", "fp16"};
  request.servers = {{true, 0}, {false, 3}};
  return plan_of(request);
}

TEST(SimulatedRunner, GivesTheSameTwiceInWhateverOrder) {
  const Plan plan = varied_plan();
  SimulatedRunner forwards(plan.catalog), backwards(plan.catalog);
  std::vector<std::vector<std::pair<std::string, double>>> first, second;
  for (const Case& asked : plan.cases) first.push_back(values(forwards.run(asked)));
  for (auto asked = plan.cases.rbegin(); asked != plan.cases.rend(); ++asked)
    second.push_back(values(backwards.run(*asked)));
  std::ranges::reverse(second);
  EXPECT_EQ(first, second);
}

TEST(SimulatedRunner, KeepsTheCaseAndIsDone) {
  const Plan plan = varied_plan();
  SimulatedRunner runner(plan.catalog);
  for (const Case& asked : plan.cases) {
    const CaseResult result = runner.run(asked);
    EXPECT_EQ(result.asked.key(), asked.key());
    EXPECT_EQ(result.status, CaseStatus::done);
  }
}

TEST(SimulatedRunner, GivesABandAroundItsStepAndTheWorldsTimeIsAccountedFor) {
  const Plan plan = varied_plan();
  SimulatedRunner runner(plan.catalog);
  for (const Case& asked : plan.cases) {
    const CaseResult result = runner.run(asked);
    const double step = value(result, "step_seconds");
    EXPECT_LE(value(result, "step_seconds_low"), step) << asked.key();
    EXPECT_GE(value(result, "step_seconds_high"), step) << asked.key();
    const double parts = value(result, "ledger/compute") + value(result, "ledger/straggler") +
                         value(result, "ledger/slowdown") + value(result, "ledger/exposed");
    EXPECT_NEAR(parts, step, 1e-9 * step) << asked.key();
  }
}

TEST(SimulatedRunner, StartsFromTheRateOfOneGpuOfTheProfileOrTheFlag) {
  SweepRequest request = small_request();
  request.gpus = {1};
  const Plan of_profile = plan_of(request);
  const double rate = of_profile.catalog.profiles.at("hkbu-10gbe").rates.at("resnet50").samples_per_second;
  EXPECT_EQ(value(SimulatedRunner(of_profile.catalog).run(of_profile.cases.front()), "baseline_throughput"), rate);

  request.single_gpu_rate = 2 * rate;
  const Plan of_flag = plan_of(request);
  const CaseResult result = SimulatedRunner(of_flag.catalog).run(of_flag.cases.front());
  EXPECT_EQ(value(result, "baseline_throughput"), 2 * rate);
  EXPECT_NEAR(value(result, "ledger/compute"), of_flag.cases.front().batch_per_gpu / (2 * rate), 1e-9);
}

}  // namespace
}  // namespace hbench
