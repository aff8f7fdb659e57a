#pragma once

/// The figure by which a timed case is tracked: its name among the samples, its unit, and which way is worse. Pure.

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

}  // namespace hbench
