#pragma once

/// What one rank does in a schedule, worked out before any transport is known.

#include <vector>

#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// The transfers of one rank, sorted by round: what `make_rank_program` takes. Made once per schedule and rank.
struct RankPlan {
  struct Step {
    std::vector<Transfer> sends;     ///< in posting order
    std::vector<Transfer> receives;  ///< in posting order
  };
  Schedule schedule;  ///< without the transfers of other ranks
  Rank rank = 0;
  bool copies = false;      ///< some rank of the schedule copies to another
  std::vector<Step> steps;  ///< one per round in which this rank takes part
};

/// Transfers from a rank to itself are dropped: the data is there.
RankPlan plan_for(const Schedule& schedule, Rank rank);

}  // namespace hbench
