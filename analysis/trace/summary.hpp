#pragma once

/// What the traced steps of a case say in a few figures, and which rank makes the others wait, in which part of its
/// step and how often. Pure.

#include <optional>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "analysis/trace/ledger.hpp"

namespace hbench {

/// Of fewer steps none is enough to name a rank.
inline constexpr std::size_t kFewestStragglerSteps = 3;

/// A rank that is late again and again.
struct Straggler {
  Rank rank = 0;
  std::size_t late = 0;   ///< steps in which it is the last, by more than noise
  std::size_t steps = 0;  ///< of all launches
  Seconds by;             ///< the median of these steps: its own work, beyond the middle one of the other ranks
  std::string part;       ///< where most of that is: `input`, `forward`, `backward`, `optimizer`, `between steps`
  Seconds in_part;        ///< so much of it

  /// `rank 1 is late in 9 of 10 steps, by 4.8 ms, in backward`
  std::string in_words() const;
};

/// The one that is late most often, if it is so more often than chance has it (a binomial test against equal ranks at a
/// level of 1 %, corrected for their number), or in each of at least `kFewestStragglerSteps` steps by a tenth of the
/// step. A rank is late where its own work, which is its step without the waiting, takes longer than every other
/// rank's, and than the middle one of the others by 2 % of the step. Only durations are compared: it holds for ranks of
/// several hosts, too.
std::optional<Straggler> find_straggler(const std::vector<TracedStep>& steps);

/// The bucket that is in flight longest.
struct SlowBucket {
  int bucket = 0;         ///< in the order in which buckets leave
  int buckets = 0;        ///< of a step, at most
  Seconds flight;         ///< the median over steps and ranks
  Seconds communication;  ///< the median over steps and ranks of the time with any bucket in flight
};

struct TraceSummary {
  std::size_t launches = 0, steps = 0;
  Seconds step;                   ///< the median of the slowest rank's
  std::vector<RankLedger> ranks;  ///< each part the median over steps: the parts add up to a step nearly, not exactly
  double exposed = 0;             ///< share of the step, the median over steps of the mean over ranks
  std::optional<SlowBucket> slowest_bucket;
  std::optional<Straggler> straggler;
};

/// \pre there are steps, and at least one has a rank's whole step
TraceSummary summarize_trace(const std::vector<TracedStep>& steps);

}  // namespace hbench
