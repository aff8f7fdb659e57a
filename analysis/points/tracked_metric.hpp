#pragma once

/// The name of a timed case, and the figure by which it is tracked: its name among the samples, its unit, and
/// which way is worse. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/metrics.hpp"
#include "analysis/records/records.hpp"
#include "analysis/statistics/statistics.hpp"

namespace hbench {

struct TrackedMetric {
  std::string_view name;
  std::string unit;
  bool larger_is_worse = true;
};

/// Of a collective its time in place, or out of place where it was timed in no other way; of a benchmark its
/// time, rate or amount; else the step.
TrackedMetric tracked_metric(const CaseResult& result);

/// Returns the name of a timed case for people: `resnet18, 2 GPUs, ring, batch 16`, `all-reduce of 1MiB, 4 ranks, ring
/// by mpi`.
std::string tracked_name(const Case& asked);
/// The names of cases, in their order. Those that would be equal have the fields of work, way and place in which they
/// differ, since programs tell cases apart by names.
std::vector<std::string> tracked_names(const std::vector<const Case*>& cases);

/// The value of each launch of a timed case: the median over iterations of its `tracked_metric`.
Launch launch_values(const CaseResult& result);

}  // namespace hbench
