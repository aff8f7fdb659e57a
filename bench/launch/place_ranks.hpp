#pragma once

#include <string>
#include <vector>

#include "bench/launch/allocation.hpp"

namespace hbench {

/// The ranks of a job: workers first, then dedicated servers.
struct RankCount {
  int workers = 1;
  int nodes = 1;  ///< on which the workers are, equally many on each
  int servers = 0;
};

/// Where the ranks of a job are.
struct RankPlaces {
  std::vector<std::string> host_of_rank;  ///< by rank; empty: this machine
  std::string refusal;                    ///< why there is no place for them; empty where there is
};

/// Places workers in blocks of consecutive ranks, on the first hosts that have slots for their share; servers in turn
/// on the same hosts. Pure.
RankPlaces place_ranks(const Allocation& allocation, const RankCount& ranks);

/// Returns the fewest nodes of the allocation on which `workers` workers, equally many on each, have slots; 0 where
/// they have none. \pre the allocation is not local.
int fewest_nodes(const Allocation& allocation, int workers);

}  // namespace hbench
