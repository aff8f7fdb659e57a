#pragma once

/// What is judged, and by which rule: records alone.

#include <cstdint>
#include <vector>

#include "analysis/statistics/statistics.hpp"

namespace hbench {

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

}  // namespace hbench
