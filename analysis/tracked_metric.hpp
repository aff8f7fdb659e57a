#pragma once

/// The figure by which a timed case is tracked: its name among the samples, its unit, and which way is worse. Pure.

#include <string>
#include <string_view>

#include "analysis/records.hpp"

namespace hbench {

namespace metric {
/// What a rank reports of each training step: the time from the end of the one before to its end.
inline constexpr std::string_view kStep = "step_seconds";
/// Of a benchmark of another program (`Case::benchmark`), one per launch and repetition: the time of what it repeats;
/// or what is the better the higher it is, such as a rate, in a unit of its own (`items/s`, `B/s`); or another amount
/// that is the better the lower it is (`MiB`).
inline constexpr std::string_view kBenchmarkSeconds = "seconds";
inline constexpr std::string_view kBenchmarkRate = "rate";
inline constexpr std::string_view kBenchmarkAmount = "amount";
}  // namespace metric

struct TrackedMetric {
  std::string_view name;
  std::string unit;
  bool larger_is_worse = true;
};

/// Of a collective its time in place, or out of place where it was timed in no other way; of a benchmark its
/// time, rate or amount; else the step.
TrackedMetric tracked_metric(const CaseResult& result);

}  // namespace hbench
