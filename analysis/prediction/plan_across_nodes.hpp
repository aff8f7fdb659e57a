#pragma once

/// The cases of a job on one cluster whose network varies.

#include "analysis/prediction/plan.hpp"

namespace hbench {

/// Simulated cases of `request`, which names one profile: workload by workload in the order in which they were asked
/// for. What fits into one node uses no network, and is left out with that reason. \throws Error (usage) as
/// `plan_predictions`, and where nothing is left.
Plan plan_across_nodes(PredictionRequest request, const Data& data, std::int64_t memory);

}  // namespace hbench
