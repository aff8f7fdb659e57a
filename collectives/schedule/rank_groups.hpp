#pragma once

/// Ranks in groups of equal size that all do the same at once: one schedule of the whole world.

#include <compare>
#include <vector>

#include "collectives/schedule/runs.hpp"

namespace hbench {

/// Ranks r, r + stride, r + 2 stride ... are one group, of `size` ranks. Every rank is in one.
struct RankGroups {
  int size = 0;  ///< 0: as many as there are
  int stride = 1;

  /// Whether all ranks are one group.
  bool all() const { return size == 0 && stride == 1; }
  /// Returns the number of ranks in each group.
  int size_among(int ranks) const { return size > 0 ? size : ranks / stride; }
  /// Returns the number of ranks of which a world has a multiple: fewer have no whole groups.
  int unit() const { return size > 0 ? size * stride : stride; }
  /// Returns the place of a rank in its group.
  int place(Rank rank, int ranks) const { return rank / stride % size_among(ranks); }
  /// Returns the ranks of each group, in order. \pre `ranks` is a multiple of `unit`
  std::vector<std::vector<Rank>> members(int ranks) const;
  /// Whether every group lies in one of the runs of `per_node` ranks.
  bool within(int per_node) const { return size > 0 && per_node % unit() == 0; }

  friend auto operator<=>(const RankGroups&, const RankGroups&) = default;
};

/// Returns `part`, of the ranks of one group, done in all groups of `ranks` ranks at once. \pre as `members`
RunSchedule in_groups(const RunSchedule& part, int ranks, const RankGroups& groups);

}  // namespace hbench
