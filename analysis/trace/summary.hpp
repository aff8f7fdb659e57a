#pragma once

/// What the traced steps of a case say in a few figures. Pure.

#include <optional>
#include <vector>

#include "analysis/records/records.hpp"
#include "analysis/trace/ledger.hpp"
#include "analysis/trace/stragglers.hpp"

namespace hbench {

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
