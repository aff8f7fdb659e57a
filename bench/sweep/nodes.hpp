#pragma once

/// On which nodes measured cases run. Pure.

#include <string_view>
#include <vector>

#include "bench/launch/allocation.hpp"
#include "bench/sweep/measured_place.hpp"
#include "bench/sweep/request.hpp"

namespace hbench {

/// Numbers of nodes as people write them, `1..4` (doubling) or `1,3`. \throws Error (usage) that names --nodes.
std::vector<int> parse_node_range(std::string_view text);

/// Returns the layouts of `gpus` GPUs (or cores): those of `request.layouts`, or else one of each of `request.nodes`,
/// as `request.gpus_per_node` says, and where neither is given on the fewest nodes that hold the ranks. What of it
/// cannot be is added to `refused`.
std::vector<NodeLayout> choose_layouts(int gpus, const SweepRequest& request, const MeasuredPlace& place,
                                       const Allocation& allocation, std::vector<Refusal>& refused);

/// Returns the hosts of a timed case whose job has `processes` processes, servers included.
RankPlaces places_of(const Allocation& allocation, const Case& asked, int processes);

}  // namespace hbench
