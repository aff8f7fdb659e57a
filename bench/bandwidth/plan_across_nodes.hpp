#pragma once

/// The cases of a job on one cluster whose network varies.

#include "bench/sweep/plan.hpp"

namespace hbench {

/// Simulated cases of `request`, which names one profile: workload by workload in the order in which they were asked
/// for. What fits into one node uses no network, and is left out with that reason. \throws Error (usage) as
/// `make_plan`, and where nothing is left.
Plan plan_across_nodes(SweepRequest request, const Data& data);

}  // namespace hbench
