#pragma once

/// `hbench track history`: how fast cases were over the runs of a database, and since when. `hbench track bisect`:
/// which commit between two runs has made a case slower, where to look, and what was found.

#include <map>
#include <string>
#include <vector>

#include "analysis/statistics/statistics.hpp"
#include "analysis/store/store.hpp"
#include "analysis/track/changes.hpp"
#include "analysis/track/judge.hpp"

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

/// Two commits between which a case has become slower.
struct BisectRange {
  std::string name;       ///< of the case
  std::string good, bad;  ///< commits, as the labels of the runs have them
  double shift = 0;       ///< by which fraction the new level is above the old one
};

/// Adds to `cases` what `hbench track check` has called regressed and what is too young for a level of its own: the
/// newest runs of a case of which the last check of each says so. What they were held to is the present level: a change
/// that has its level is dated by that.
void add_regressions(std::vector<CaseHistory>& cases, const Store& store);

/// The newest change for the worse. \throws Error (usage) where there is none, where a run tells no commit, and where
/// both runs are of the same one.
BisectRange bisect_range(const std::vector<CaseHistory>& cases);

/// A commit that was measured: regressed where it is bad, pass where it is good, else inconclusive.
struct BisectStep {
  std::string commit, subject;
  TrackVerdict answer = TrackVerdict::inconclusive;
  std::string reason;        ///< of the verdict
  TrackJudgement judgement;  ///< of the case that decided, against the good commit
};

struct BisectReport {
  BisectRange range;
  std::vector<BisectStep> steps;       ///< the first is the bad commit itself
  std::vector<std::string> first_bad;  ///< one commit where it was found; several where some could not be measured
  std::vector<std::string> subjects;   ///< of these
  std::string obstacle;                ///< why nothing was found, in a sentence
};

}  // namespace hbench
