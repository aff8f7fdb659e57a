#pragma once

/// What a timed case is called, and the figure by which it is tracked: its name among the samples, its unit, and
/// which way is worse. Pure.

#include <string>
#include <string_view>

#include "analysis/records/metrics.hpp"
#include "analysis/records/records.hpp"

namespace hbench {

struct TrackedMetric {
  std::string_view name;
  std::string unit;
  bool larger_is_worse = true;
};

/// Of a collective its time in place, or out of place where it was timed in no other way; of a benchmark its
/// time, rate or amount; else the step.
TrackedMetric tracked_metric(const CaseResult& result);

/// What a timed case is called for people: `resnet18, 2 GPUs, ring, batch 16`, `all-reduce of 1MiB, 4 ranks, ring by
/// mpi`.
std::string tracked_name(const Case& asked);

}  // namespace hbench
