#pragma once

/// What holds a training step back where the network between nodes takes no time.

#include <string>

#include "analysis/prediction/data.hpp"
#include "analysis/records/records.hpp"

namespace hbench {

struct Obstacle {
  std::string words;              ///< `what parameter servers handle`
  double efficiency_without = 0;  ///< on an unlimited network
};

/// Takes away each thing that a network's rate does not change (latency, links inside nodes, servers, memory, host,
/// stragglers ...), one at a time, and gives what the step gains most from. \pre `catalog` has what the case names.
Obstacle worst_obstacle(const Case& asked, const Catalog& catalog);

}  // namespace hbench
