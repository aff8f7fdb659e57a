#pragma once

/// How a stored verdict came about: the launches that it was given by, and the rule on them once more.

#include <optional>
#include <string>
#include <vector>

#include "analysis/store/store.hpp"
#include "analysis/track/sides.hpp"
#include "reports/document.hpp"

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

Document explanation_document(const Explanation& explanation);
std::string explanation_json(const Explanation& explanation);

/// The verdicts of a run (0: the newest that has some), the newest check last. \throws Error (usage) where there are
/// none.
Document verdicts_document(const Store& store, std::int64_t run);

}  // namespace hbench
