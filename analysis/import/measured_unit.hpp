#pragma once

/// Times and rates by the units that programs write.

#include <optional>
#include <string>
#include <string_view>

#include "analysis/points/tracked_metric.hpp"

namespace hbench {

/// What a number is: `factor` times it is in `unit`.
struct MeasuredUnit {
  bool is_rate = false;  ///< a larger one is better
  double factor = 1;     ///< of times: to seconds; of rates 1
  std::string unit;      ///< `s`, or the rate's own: `samples/s`, `gb/ms`

  std::string_view metric() const { return is_rate ? metric::kBenchmarkRate : metric::kBenchmarkSeconds; }
};

/// `s`, `ms`, `us`, `ns`, `min`; `x/s`, `x/ms` and `Gbps` are rates, and `ms/x` is a time. None for others.
std::optional<MeasuredUnit> measured_unit(std::string_view unit);
/// By its end: `step_ms`, `step_seconds`, `tokens_per_s`, `tokens_per_ms`, `bus_bw_gb_s`, `ms_per_step`, `GB/s`. None
/// where it says nothing, or may be a time and a rate (`tokens_s`).
std::optional<MeasuredUnit> unit_of_name(std::string_view name);

inline constexpr const char* kUnitHint =
    "let names end with _s, _ms, _us, _ns or _per_s, or add \"unit\": \"ms\" (s, ms, us, ns, min, .../s)";

}  // namespace hbench
