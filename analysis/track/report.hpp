#pragma once

/// What a check of tracked cases has found: records alone.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "analysis/track/limit.hpp"
#include "analysis/track/paired.hpp"
#include "analysis/track/sides.hpp"
#include "collectives/base/error.hpp"

namespace hbench {

/// What is judged, and by what.
struct TrackRequest {
  int head = 0;                                 ///< a run; 0: the one that was stored last
  std::map<std::string, std::string> baseline;  ///< labels of the runs that it is held to
  TrackRule rule;
  bool fail_on_inconclusive = false;
  std::string frozen = {};              ///< the name of a frozen baseline instead; empty: `baseline`
  std::vector<TrackLimit> limits = {};  ///< beside it
};

/// A case with its verdict.
struct TrackedResult {
  TrackedSides sides;
  TrackJudgement judgement;
  std::int64_t id = 0;  ///< of its stored verdict; 0: not stored
  /// What else differs from the baseline, where it has changed: commits, parts of the step, ranks, facts; in sentences.
  std::vector<std::string> changed = {};
};

/// Sides that took turns (`hbench track pair`).
struct PairedSides {
  std::string base, head;  ///< commands
  PairRule rule;
  int pairs = 0;  ///< that are complete
};

struct TrackReport {
  TrackRequest request;
  Run head;
  std::vector<Run> runs;          ///< of the baseline, oldest first
  std::vector<Run> earlier = {};  ///< before an accepted change, oldest first
  std::vector<TrackedResult> results;
  std::vector<std::string> notes = {};  ///< what is to be known beside the verdicts, in sentences
  /// Where it is set, the verdicts are given by its rule, and the baseline is the run of the other side.
  std::optional<PairedSides> paired = {};

  std::size_t count(TrackVerdict verdict) const;
  /// `branch=main`, or `the frozen baseline v2`.
  std::string baseline_in_words() const;
  /// Failed cases of the head end with their own code, 4 before 5; then 10 where something has regressed, 11 where
  /// something is suspected or, if that is asked for, inconclusive, and 12 where nothing is comparable or a case is
  /// not.
  ExitCode exit_code() const;
};

/// What was tried and has failed, or cannot be compared, is no question of figures.
TrackJudgement without_figures(const TrackedSides& sides, TrackJudgement judgement);

}  // namespace hbench
