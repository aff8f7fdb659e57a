#pragma once

/// The rate of a full node that somebody has measured, and what it says of one GPU.

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/data.hpp"

namespace hbench {

/// Gives the cluster what all GPUs of one full node make together in steps like `step`. Where nobody measured one GPU,
/// or a node makes more than those that were measured could, it says how fast one is. \throws Error (usage) where it
/// cannot be.
void set_node_rate(Catalog& catalog, PlannedCase step, double node_rate);

}  // namespace hbench
