#pragma once

/// Absolute limits of a case, where there is no history: the acceptance of a cluster. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/records/records.hpp"
#include "analysis/track/judge.hpp"

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

}  // namespace hbench
