#pragma once

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// What `schedule` really costs for a buffer of `elements` elements: its rounds, and the elements sent
/// and received by the busiest rank (each maximum taken apart). A transfer from a rank to itself is free.
Cost count_cost(const Schedule& schedule, std::int64_t elements);

}  // namespace hbench
