#pragma once

/// How a stored verdict came about: the launches that it was given by, and the rule on them once more.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/store/store.hpp"
#include "analysis/track/sides.hpp"

namespace hbench {

/// A verdict with what is left of its grounds.
struct Explanation {
  StoredJudgement judgement;
  StoredVerdict verdict;
  TrackRule rule;
  std::string name;      ///< of the case
  std::string unit;      ///< of its values: `s`, or of rates their own
  TrackedCase values;    ///< of the launches that were judged, as the database has them now
  std::size_t lost = 0;  ///< runs of the baseline that are in none of the databases
  /// The same rule on the same launches by this version; nothing where runs are lost, and of limits.
  std::optional<TrackJudgement> again;
};

/// \param baselines another database that may have runs of the baseline; null: none.
/// \throws Error (usage) for a number that no verdict has.
Explanation explain(const Store& store, std::int64_t verdict, const Store* baselines = nullptr);

/// The checks of a run, as they are stored.
struct CheckedRun {
  std::int64_t run = 0;
  std::vector<StoredJudgement> judgements;   ///< the newest last
  std::map<std::string, std::string> names;  ///< of cases, by question
};

/// The checks of a run (0: the newest that has some). \throws Error (usage) where there are none.
CheckedRun checked_run(const Store& store, std::int64_t run);

}  // namespace hbench
