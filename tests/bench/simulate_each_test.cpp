// Cases that are simulated side by side: the same as one after the other.

#include "analysis/prediction/simulate_each.hpp"

#include "analysis/prediction/simulate.hpp"
#include "tests/bench/plan_example.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/sanitized.hpp"

namespace hbench::simulate_each_test {
namespace {

using Values = std::vector<std::pair<std::string, double>>;

/// Worlds and networks that change from case to case.
Plan varied_plan(std::vector<int> gpus = {2, 12}) {
  SweepRequest request = small_request();
  request.gpus = std::move(gpus);
  request.profiles = {"hkbu-10gbe", "azure-nd96asr-v4"};
  request.algorithms = {"ring", "ps"};
  request.servers = {{true, 0}};
  return plan_of(request);
}

std::vector<const PlannedCase*> cases_of(const Plan& plan) {
  std::vector<const PlannedCase*> cases;
  for (const PlannedCase& each : plan.cases) cases.push_back(&each);
  return cases;
}

Values values_of(const CaseResult& result) {
  Values values{{result.asked.key(), 0}};
  for (const Sample& sample : result.samples) values.emplace_back(sample.metric, sample.value);
  return values;
}

std::vector<Values> side_by_side(const Plan& plan, const SimulationMeans& means = {}) {
  std::vector<Values> all;
  simulate_each(
      cases_of(plan), plan.catalog, means,
      {.waits_for = [](const Case&) {}, .made = [&](const CaseResult& made) { all.push_back(values_of(made)); }});
  return all;
}

std::vector<Values> one_by_one(const Plan& plan) {
  SimulatedRunner runner(plan.catalog);
  std::vector<Values> all;
  for (const PlannedCase& each : plan.cases) all.push_back(values_of(runner.run(each)));
  return all;
}

TEST(SimulateEach, GivesWhatOneRunnerGivesInTheSameOrder) {
  const Plan plan = varied_plan();
  EXPECT_THAT(side_by_side(plan), ElementsAreArray(one_by_one(plan)));
}

// Then those with large schedules take turns: of 256 GPUs their bytes are counted.
TEST(SimulateEach, SimulatesEverythingWhereThereIsHardlyAnyMemory) {
  Plan plan = varied_plan({256});
  if (support::kSanitized) plan.cases.erase(plan.cases.begin() + 2, plan.cases.end());
  EXPECT_GT(simulation_bytes(plan.cases.back(), plan.catalog), 1);
  EXPECT_EQ(side_by_side(plan, {.memory = 1}).size(), plan.cases.size());
}

TEST(SimulateEach, SaysForWhichCaseItWaitsBeforeItHandsItOver) {
  const Plan plan = varied_plan();
  std::string waited_for;
  std::size_t made = 0;
  simulate_each(cases_of(plan), plan.catalog, {},
                {.waits_for = [&](const Case& asked) { waited_for = asked.key(); },
                 .made =
                     [&](const CaseResult& result) {
                       EXPECT_EQ(result.asked.key(), waited_for);
                       ++made;
                     }});
  EXPECT_EQ(made, plan.cases.size());
}

TEST(SimulateEach, EndsAtOnceWhenAStopIsRequestedAndKeepsWhatWasHandedOver) {
  const Plan plan = varied_plan();
  std::atomic<bool> stopped = false;
  std::vector<std::string> made;
  expect_error(
      [&] {
        simulate_each(cases_of(plan), plan.catalog, {.stop = [&] { return stopped.load(); }},
                      {.waits_for = [](const Case&) {},
                       .made =
                           [&](const CaseResult& result) {
                             made.push_back(result.asked.key());
                             stopped = true;
                           }});
      },
      ExitCode::interrupted, testing::_, testing::_);
  EXPECT_LT(made.size(), plan.cases.size());
  EXPECT_EQ(made.front(), plan.cases.front().asked.key());
}

// Whoever follows may fail too: a full disk, say.
TEST(SimulateEach, EndsItsThreadsWhenItsFollowerFails) {
  const Plan plan = varied_plan();
  expect_error(
      [&] {
        simulate_each(
            cases_of(plan), plan.catalog, {},
            {.waits_for = [](const Case&) {},
             .made = [](const CaseResult&) { throw Error(ExitCode::environment, "the disk is full", "make room"); }});
      },
      ExitCode::environment, "the disk is full");
}

TEST(SimulateEach, HasNothingToDoForNoCases) {
  const Catalog catalog;
  simulate_each({}, catalog, {}, {.waits_for = [](const Case&) {}, .made = [](const CaseResult&) { FAIL(); }});
}

}  // namespace
}  // namespace hbench::simulate_each_test
