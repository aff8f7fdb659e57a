#pragma once

/// What changed between a baseline and a head that is slower: which part of the step grew, which rank is slow in which
/// part, and which facts of the runs differ. Pure.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/records/fingerprint.hpp"
#include "analysis/records/records.hpp"

namespace hbench {

/// One side of a comparison of one case.
struct CausesSide {
  /// By run: all samples of the case, of which those of traced steps are read (`analysis/trace/ledger.hpp`).
  std::vector<std::vector<Sample>> runs;
  std::map<std::string, std::string> environment;  ///< of its newest run
  bool has_steps = true;                           ///< whether it trains; else no part of a step is looked for
};

/// A part of the step that takes longer. Times are medians over launches; of a launch the mean over ranks of each
/// rank's median traced step.
struct GrownPart {
  std::string part;   ///< `compute`, `straggler`, `exposed` ... (`LedgerPart::name`)
  std::string words;  ///< for people
  Seconds before, after;

  Seconds growth() const { return after - before; }
};

/// A rank whose own work grew, and that of the others did not, or by less than half as much.
struct SlowRank {
  Rank rank = 0;
  std::string part;  ///< `forward`, `backward`, `optimizer`, `between steps`
  Seconds growth;    ///< of this rank's
  Seconds others;    ///< the middle growth of the other ranks'
};

struct Causes {
  std::vector<GrownPart> grown;  ///< the largest growth first
  std::optional<SlowRank> slow_rank;
  std::vector<ChangedFact> facts;  ///< by name
  /// All that in words, one sentence each, the most telling first; why nothing can be said where that is so. Never
  /// empty. What runs state of themselves is quoted as it is: whoever prints it escapes it.
  std::vector<std::string> sentences;
};

/// A part has grown where its launches say so beyond their own scatter: by Mann and Whitney's exact test at a level of
/// 1 %, by more than three deviations of a launch (robust, of the wider side), and by 1 % of the step at least. Two
/// sides of equal code show a part in 1 of 100 comparisons at most (`tests/analysis/track_causes_test.cpp`).
Causes find_causes(const CausesSide& baseline, const CausesSide& head);

}  // namespace hbench
