#pragma once

#include "collectives/algorithms/algorithm.hpp"

namespace hbench {

/// `groups` groups of `members` ranks each: rank `group * group_step + member * member_step`.
struct Grid {
  int groups = 1;
  int members = 1;
  int group_step = 1;
  int member_step = 1;

  Rank rank(int group, int member) const { return group * group_step + member * member_step; }
};

/// An all-reduce of a grid: a reduce-scatter inside every group, all-reduces of the parts across the groups side by
/// side, an all-gather inside every group.
struct TwoLevel {
  Grid grid;
  const Algorithm* inner = nullptr;  ///< an all-reduce with `reduce_scatter` and `all_gather`
  const Algorithm* outer = nullptr;  ///< an all-reduce without servers, groups or parameters
  int segments = 1;                  ///< of both

  Shape shape() const;
  /// Adds the transfers to `whole`, in the chunks from `first_chunk` on and from round 0; their order is for
  /// `order_by_round` to restore.
  void embed_in(RunSchedule& whole, int first_chunk) const;
  /// `cut` is of the chunks of `shape`.
  Traffic traffic(const Cut& cut, int group, int member) const;

 private:
  ScheduleRequest inside() const { return {.world = {.workers = grid.members}, .segments = segments}; }
  ScheduleRequest across() const { return {.world = {.workers = grid.groups}, .segments = segments}; }
  /// Chunks of one member's part.
  int part_chunks() const;
  void embed_inside(RunSchedule& whole, const Algorithm& scheme, int first_chunk, int first_round) const;
};

}  // namespace hbench
