#pragma once

#include <map>
#include <string>
#include <tuple>

#include "analysis/records.hpp"
#include "bench/plan.hpp"
#include "collectives/network/step_simulator.hpp"

namespace hbench {

/// Runs simulated cases. Keeps the simulators of the last profile and worker count, so that cases are quickest
/// in the plan's order. `catalog` outlives it and holds what the cases name.
class SimulatedRunner {
 public:
  explicit SimulatedRunner(const Catalog& catalog) : catalog_(catalog) {}
  CaseResult run(const Case& asked);

 private:
  StepSimulator& simulator(const std::string& profile_name, const World& world);

  const Catalog& catalog_;
  std::string last_profile_;
  int last_workers_ = 0;
  /// Of the last profile and worker count, by servers, co-location and group.
  std::map<std::tuple<int, bool, int>, StepSimulator> simulators_;
};

}  // namespace hbench
