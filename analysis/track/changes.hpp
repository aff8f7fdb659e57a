#pragma once

/// Where a series of runs changes its level, for good. Pure.
///
/// What is judged, and by which rule: records alone.
///
/// Which runs of a baseline a head is held to, and how far off a run of equal code can be: a baseline may have changed
/// its level meanwhile, and a machine may have several states. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/statistics/statistics.hpp"

namespace hbench {

struct ChangeRule {
  double least_effect = 0.03;    ///< relative; levels that are nearer to each other are one
  std::size_t shortest = 3;      ///< runs of a level: fewer are a disturbance
  std::size_t most_runs = 1000;  ///< the newest; the time grows with the square
  /// Of a change, in deviations of the noise times the logarithm of the number of runs: the series is cut where that
  /// saves more than it. 4 finds a change in 1 of 100 series of 100 equal runs.
  double penalty = 4;
};

/// Where new levels begin: indices into `values` (above 0, oldest first), ascending, without 0. The sum of absolute
/// deviations of logarithms from the medians of their levels plus the penalty of each change is the least there is
/// (optimal partitioning: Jackson et al., "An algorithm for optimal partitioning of data on an interval", 2005;
/// medians, so that single bad runs move no level). The noise is that of successive differences, which levels do not
/// count in. What fewer runs than a level needs stand for is joined with a neighbour, and so are, the nearest first,
/// neighbours nearer than the least effect.
std::vector<std::size_t> change_points(std::span<const double> values, const ChangeRule& rule = {});

/// What is called a change. The defaults are those whose errors `tests/studies/false_alarms` prints.
struct TrackRule {
  double least_effect = 0.03;  ///< relative; smaller changes do not count
  double level = 0.01;         ///< probability of an alarm by chance, over all cases of a gate
  double spread = 4;           ///< deviations of the baseline's runs that a change must exceed
  int most_runs = 30;          ///< of the baseline, the newest
  int fewest_runs = 5;         ///< of the baseline and before it; fewer say nothing of how runs differ
  int launches = 5;            ///< of a head that decide, at least; the last `confirming` confirm
  int confirming = 5;          ///< those that must find a change again; 0: none need to

  friend bool operator==(const TrackRule&, const TrackRule&) = default;
};

/// What is known of a run of a baseline beside its launches.
struct BaselineRun {
  std::int64_t run = 0;     ///< its number in its database
  bool equal_code = false;  ///< as far as is known, it measured the code that the head did
};

/// One case of a gate. Values are above 0; of times a larger one is worse, of rates a smaller one.
struct TrackedCase {
  std::vector<Launch> baseline;  ///< by run, oldest first: a value for each launch
  Launch head;                   ///< in the order in which they were measured
  bool larger_is_worse = true;
  /// Runs before a change of level that was accepted: they tell how runs differ, and nothing of the level.
  std::vector<Launch> earlier{};
  std::vector<BaselineRun> known{};  ///< of each run of the baseline; empty: nothing is
};

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
