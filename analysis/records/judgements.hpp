#pragma once

/// What was said of tracked runs, as it is stored: what is accepted, what others are held to by a name, and verdicts.
///
/// Runs that were measured for a question of their own: both sides of `hbench track pair`, and in older
/// databases the launches of `hbench tune`.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/statistics/statistics.hpp"

namespace hbench {

/// Somebody has said that a run is as fast as it should be, whatever runs before it were: it begins a new level.
struct Acceptance {
  std::int64_t run = 0;
  std::string reason;
  std::string accepted_at;  ///< ISO 8601, UTC

  friend bool operator==(const Acceptance&, const Acceptance&) = default;
};

/// Runs that others are held to by a name, for as long as it stands.
struct FrozenBaseline {
  std::string name;
  std::vector<std::int64_t> runs;  ///< ascending
  std::string frozen_at;           ///< ISO 8601, UTC

  friend bool operator==(const FrozenBaseline&, const FrozenBaseline&) = default;
};

/// What was said of one case, and by which figures.
struct StoredVerdict {
  std::int64_t id = 0;  ///< in its database; the store fills it in
  std::string question;
  std::string verdict;  ///< `TrackVerdict`, in its word
  std::string reason;
  std::int64_t launches = 0;  ///< of the head that were judged, the first ones
  /// The rest as in `TrackJudgement`; 0 where nothing was compared.
  bool compared = false;
  double before = 0, after = 0, shift = 0;
  Interval interval;
  double p = 1, corrected = 1;

  friend bool operator==(const StoredVerdict&, const StoredVerdict&) = default;
};

/// One check of a run: all that is needed to do it again.
struct StoredJudgement {
  std::int64_t id = 0;                     ///< in its database; the store fills it in
  std::int64_t run = 0;                    ///< that was judged
  std::string judged_at;                   ///< ISO 8601, UTC
  std::string version;                     ///< of hbench
  std::string baseline;                    ///< what it was held to, in words
  std::string rule;                        ///< JSON
  std::vector<std::string> runs, earlier;  ///< UUIDs of the baseline's runs, oldest first: `BaselineRuns`
  std::vector<StoredVerdict> verdicts;

  friend bool operator==(const StoredJudgement&, const StoredJudgement&) = default;
};

/// Their labels.
inline constexpr const char* kTuningLabel = "tuning";
inline constexpr const char* kPairLabel = "pair";

/// Whether a run with these labels is a trial: no answer where another run has one, and no baseline of others.
inline bool is_trial(const std::map<std::string, std::string>& labels) {
  return labels.contains(kTuningLabel) || labels.contains(kPairLabel);
}

}  // namespace hbench
