#pragma once

/// Which commit between two runs has made a case slower: where to look, and what was found.

#include <string>
#include <vector>

#include "analysis/track/history.hpp"
#include "analysis/track/judge.hpp"

namespace hbench {

/// Two commits between which a case has become slower.
struct BisectRange {
  std::string name;       ///< of the case
  std::string good, bad;  ///< commits, as the labels of the runs have them
  double shift = 0;       ///< by which fraction the new level is above the old one
};

/// Adds to `cases` what `hbench track check` has called regressed and what is too young for a level of its own: the
/// newest runs of a case of which the last check of each says so.
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
