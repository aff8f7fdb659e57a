#pragma once

/// What a check of tracked cases has found: records alone.
///
/// Absolute limits of a case, where there is no history: the acceptance of a cluster. Pure.
///
/// A rule as JSON, as it is printed and stored.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"
#include "analysis/track/judge.hpp"
#include "analysis/track/paired.hpp"
#include "analysis/track/sides.hpp"
#include "collectives/base/error.hpp"

namespace hbench {

/// What a limit is given in.
enum class LimitMetric : std::uint8_t { seconds, samples_per_second, bus_bandwidth };

/// A case may be so far from a value. Shares are of the value, and above 0.
struct TrackLimit {
  std::string match;  ///< a part of the names of the cases, whatever their letters' case
  LimitMetric metric = LimitMetric::seconds;
  double value = 0;     ///< s, samples/s or bytes/s
  double worse = 0.05;  ///< how much slower it may be
  double better = 0;    ///< how much faster it may be before that is suspicious; 0: as much as it likes
  double warn = 0;      ///< from where on it is said to be near its limit; 0: nowhere
  std::string place;    ///< where it was written: `hbench.toml:30`

  friend bool operator==(const TrackLimit&, const TrackLimit&) = default;
};

/// `s`, `samples/s`, `B/s`.
std::string_view unit_of(LimitMetric metric);

/// The launches of a done case in the limit's metric. Empty where the case has no such metric.
Launch limit_values(const CaseResult& result, LimitMetric metric);

/// Regressed where every launch is beyond the limit (of as many launches as the rule decides by, at least: chance gives
/// that to 2 x (1/2)^5 = 6 % of cases that are just at it, and to hardly one that is within); inconclusive where only
/// their middle is, or where there are fewer. A pass near its limit has a next step. `before` is the limit's value, and
/// the interval the range of the launches.
TrackJudgement judge_limit(const Launch& values, const TrackLimit& limit, const TrackRule& rule);

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
  /// The head is the first run of its database with the labels of the baseline, and has timed cases, to which later
  /// ones are held.
  bool begins_baseline = false;

  std::size_t count(TrackVerdict verdict) const;
  /// `branch=main`, or `the frozen baseline v2`.
  std::string baseline_in_words() const;
  /// Failed cases of the head end with their own code, 4 before 5; then 10 where something has regressed, 11 where
  /// something is suspected or, if that is asked for, inconclusive, and 12 where nothing is comparable or a case is
  /// not. All of a first run is new, and good.
  ExitCode exit_code() const;
};

/// What was tried and has failed, or cannot be compared, is no question of figures.
TrackJudgement without_figures(const TrackedSides& sides, TrackJudgement judgement);

std::string rule_json(const TrackRule& rule);

}  // namespace hbench
