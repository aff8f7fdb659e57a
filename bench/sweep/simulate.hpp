#pragma once

#include <map>
#include <string>
#include <tuple>

#include "analysis/model_error.hpp"
#include "analysis/records.hpp"
#include "bench/sweep/plan.hpp"
#include "workloads/simulation/step_simulator.hpp"

namespace hbench {

/// Why a simulated step of this strategy does not fit in `memory` bytes, and how many GPUs do; empty when it fits.
std::string refuse_size(const World& world, const StepTimeline& timeline, const TrainingStrategy& strategy,
                        std::int64_t memory);

/// The same for choosing an algorithm (`--algorithm auto`) for a world of `workers`.
std::string refuse_choice(const Profile& profile, int workers, std::int64_t memory);

/// About how long `SimulatedRunner::run` will take. `catalog` holds what the case names.
Seconds simulation_time(const Case& asked, const Catalog& catalog);

/// Runs simulated cases. Keeps the simulators of the last profile and worker count, so that cases are quickest
/// in the plan's order. `catalog` outlives it and holds what the cases name.
class SimulatedRunner {
 public:
  /// Asks `stop` again and again while it runs. `error` widens the bands, which hold the profile's uncertainty.
  explicit SimulatedRunner(const Catalog& catalog, StopRequested stop = {}, ModelError error = kModelError)
      : catalog_(catalog), stop_(std::move(stop)), error_(error) {}
  /// \throws Error (interrupted) when a stop was requested; later runs are as good as if this one had never been.
  CaseResult run(const Case& asked);

 private:
  /// `servers_faster`: by how many times parameter servers are faster than the profile says.
  StepSimulator& simulator(const std::string& profile_name, const World& world, double servers_faster = 1);
  const Profile& profile(const std::string& name, double servers_faster);

  const Catalog& catalog_;
  StopRequested stop_;
  ModelError error_;
  std::string last_profile_;
  int last_workers_ = 0;
  std::map<std::pair<std::string, double>, Profile> varied_;  ///< by name and how much faster servers are
  /// Of the last profile and worker count, by servers, co-location, group, and how much faster servers are.
  std::map<std::tuple<int, bool, int, double>, StepSimulator> simulators_;
};

}  // namespace hbench
