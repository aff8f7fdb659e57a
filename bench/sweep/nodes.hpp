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

/// On how many nodes each a GPU count is measured, and which of those asked for cannot be.
struct NodeChoice {
  std::vector<int> nodes;
  std::vector<Refusal> refused;
};

/// \param wanted numbers of nodes; empty: as `gpus_per_node` says, and where that is 0 the fewest that hold the ranks.
NodeChoice choose_nodes(int gpus, const std::vector<int>& wanted, int gpus_per_node, const Allocation& allocation);

/// How ranks are put on nodes and GPUs, and what of it cannot be.
struct LayoutChoice {
  std::vector<NodeLayout> layouts;
  std::vector<Refusal> refused;
};

/// Returns the layouts of `gpus` GPUs (or cores): those of `request.layouts`, or else one of each number of nodes
/// (`choose_nodes`).
LayoutChoice choose_layouts(int gpus, const SweepRequest& request, const MeasuredPlace& place,
                            const Allocation& allocation);

/// Returns the hosts of a timed case whose job has `processes` processes, servers included.
RankPlaces places_of(const Allocation& allocation, const Case& asked, int processes);

}  // namespace hbench
