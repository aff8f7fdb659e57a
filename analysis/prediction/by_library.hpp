#pragma once

/// Flat algorithms on hundreds of GPUs, and what a library would run in their place.

#include <cstdint>
#include <set>
#include <string>

#include "analysis/points/point.hpp"
#include "analysis/prediction/plan.hpp"
#include "collectives/network/stop.hpp"

namespace hbench {

/// The predictions that are worth a comparison: of each cluster and workload the first by a flat algorithm, an
/// all-reduce among all ranks alike, on the most GPUs.
std::set<const PlannedCase*> flat_cases(const Plan& plan);

/// Adds to the result of such a case how long its step is by what the GPUs' library would choose
/// (`metric::kByLibrary`), in one more simulation; nothing where that cannot be clearly faster, or needs more than
/// `memory` bytes. \throws Error (interrupted).
void compare_with_library(CaseResult& result, const PlannedCase& flat, const Catalog& catalog, std::int64_t memory,
                          const StopRequested& stop);

/// Returns a sentence without its full stop about a point of such a case that is slower than what a library would run
/// in its place, beyond what two simulations may be off; else nothing.
std::string fault_of_flat(const Point& point);

}  // namespace hbench
