#pragma once

/// `hbench track history`: how fast cases were over the runs of a database, and since when.

#include <map>
#include <string>
#include <vector>

#include "analysis/statistics/statistics.hpp"
#include "analysis/store/store.hpp"
#include "analysis/track/changes.hpp"

namespace hbench {

struct HistoryRequest {
  std::map<std::string, std::string> labels;  ///< of the runs
  std::string match;  ///< a part of the names of cases, whatever their letters' case; empty: all
  ChangeRule rule;
};

/// One run of a case. Values are medians over iterations of the tracked metric.
struct HistoryPoint {
  Producer producer;
  double value = 0;            ///< the median of its launches
  std::vector<double> values;  ///< of its launches
};

/// A new level.
struct LevelChange {
  std::size_t first = 0;  ///< the index of its first run
  double shift = 0;       ///< by which fraction launches of the new level are above those of the one before
  Interval interval;      ///< 95 %
};

struct CaseHistory {
  std::string name, question, place;
  std::string unit;  ///< of the values: `s`, or of rates their own
  bool larger_is_worse = true;
  std::vector<HistoryPoint> points;  ///< oldest first
  std::vector<LevelChange> changes;

  /// The index of the run with which the level of `point` begins, and of the one after its last.
  std::size_t level_begin(std::size_t point) const;
  std::size_t level_end(std::size_t point) const;
  /// The median of that level's runs.
  double level(std::size_t point) const;
};

/// The timed cases of the newest run with the labels, in its order, with all answers to the same questions at the same
/// places. \throws Error (usage) where no run has the labels, and where no case matches.
std::vector<CaseHistory> history(const Store& store, const HistoryRequest& request);

}  // namespace hbench
