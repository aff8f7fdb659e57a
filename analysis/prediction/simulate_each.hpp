#pragma once

/// Many simulated cases, side by side on the cores of this machine.

#include <functional>
#include <vector>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/data.hpp"

namespace hbench {

/// Who follows the cases. Both are called on the caller's thread, in the order of the cases.
struct CaseFollower {
  std::function<void(const Case&)> waits_for;  ///< the next one to be handed over
  std::function<void(CaseResult)> made;
};

/// Simulates cases, as many at once as there are cores, and as their schedules have room for in `means.memory`. The
/// results are those of `SimulatedRunner::run`; they are quickest in the plan's order. `catalog` holds what the cases
/// name. Of `means`, `stop` is asked on all threads, and those that follow the work are not called. \throws Error
/// (interrupted) when a stop was requested, and what a simulation throws: once all cases before it are handed over.
void simulate_each(const std::vector<const PlannedCase*>& cases, const Catalog& catalog, const SimulationMeans& means,
                   const CaseFollower& follower);

/// The same of all cases, and tells who follows of each. `SimulationMeans::more` is not called: the caller knows of
/// further work.
std::vector<CaseResult> simulate_all(const std::vector<PlannedCase>& cases, const Catalog& catalog,
                                     const SimulationMeans& means);

}  // namespace hbench
