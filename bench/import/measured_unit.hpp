#pragma once

/// Times and rates by the units that programs write.

#include <optional>
#include <string>
#include <string_view>

#include "analysis/tracked_metric.hpp"

namespace hbench {

/// What a number is: `factor` times it is in `unit`.
struct MeasuredUnit {
  bool is_rate = false;  ///< a larger one is better
  double factor = 1;     ///< of times: to seconds; of rates 1
  std::string unit;      ///< `s`, or the rate's own: `samples/s`

  std::string_view metric() const { return is_rate ? metric::kBenchmarkRate : metric::kBenchmarkSeconds; }
};

/// `s`, `ms`, `us`, `ns`, `min`; whatever has `/s` at its end is a rate. None for others.
std::optional<MeasuredUnit> measured_unit(std::string_view unit);
/// By its end: `step_ms`, `step_seconds`, `tokens_per_s`, `images_per_second`, `GB/s`. None where it says nothing.
std::optional<MeasuredUnit> unit_of_name(std::string_view name);

inline constexpr const char* kUnitHint =
    "let names end with _s, _ms, _us, _ns or _per_s, or add \"unit\": \"ms\" (s, ms, us, ns, min, .../s)";

}  // namespace hbench
