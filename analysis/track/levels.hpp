#pragma once

/// Which runs of a baseline a head is held to, and how far off a run of equal code can be: a baseline may have changed
/// its level meanwhile, and a machine may have several states. Pure.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analysis/track/tracked_case.hpp"

namespace hbench {

/// The part of a baseline that a head is held to, and what its other runs tell.
struct BaselineLevel {
  std::size_t begin = 0, end = 0;      ///< of its runs
  std::optional<std::size_t> since{};  ///< the first of the newer runs that have left the level as the head has
  /// Logarithms of the medians of runs relative to their own level; those of this level first, by run.
  std::vector<double> positions{};
  double spread = 0;  ///< `TrackRule::spread` deviations of the positions, a logarithm
};

/// The level of the newest `runs` of a baseline; where these are worse than those before them, which nobody has
/// accepted, the level before, and `since`. Levels are those of `change_points`, or of fewer runs than it asks for
/// where the head is as far off as they are. Two levels are two only where no run of the one is as far off as the other
/// is: else they are states of the machine, and all runs are one level. \pre the head and each run have launches.
BaselineLevel baseline_level(std::span<const Launch> runs, const Launch& head, const TrackedCase& tracked,
                             const TrackRule& rule);

/// The runs (indices of `positions`) that were as far off the level as the head, which is beyond `bound` (all are
/// logarithms): not farther by half of the bound, nor less far by more than it; of several also those on both sides of
/// it, none of them farther from its neighbour than that is from the level.
std::vector<std::size_t> runs_as_far(std::span<const double> positions, double head, double bound);

}  // namespace hbench
