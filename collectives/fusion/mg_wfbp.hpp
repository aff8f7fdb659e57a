#pragma once

/// Which neighbours to merge so that communication ends soonest, when an all-reduce of M bytes takes a + M / rate.

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench {

/// What one all-reduce costs.
struct ReduceTime {
  Seconds startup;      ///< a
  BytesPerSecond rate;  ///< bytes of the buffer, not of the wire
  Seconds of(std::int64_t bytes) const { return startup + Bytes(static_cast<double>(bytes)) / rate; }
};

/// A gradient, in ready order.
struct ReadyGradient {
  Seconds at;
  std::int64_t bytes = 0;
};

/// Returns in which runs gradients (in order) travel together, one all-reduce after the other, so that the last one
/// ends soonest: the number of gradients of each run. The optimum that the merging of Shi, Chu and Li, MG-WFBP, INFOCOM
/// 2019, looks for, here by dynamic programming: O(n^2). Times of `gradients` never decrease.
std::vector<std::size_t> optimal_merge(std::span<const ReadyGradient> gradients, const ReduceTime& cost);

}  // namespace hbench
