#pragma once

/// The lines and numbers of tables that programs print.
///
/// Times and rates by the units that programs write.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/points/tracked_metric.hpp"

namespace hbench {

/// All of a word as a finite number.
std::optional<double> finite_number(std::string_view word);
/// The same, and with groups of thousands: `18,149.5`. None for `1,5`, which some write for one and a half.
std::optional<double> grouped_number(std::string_view word);

/// A text without the escape sequences by which terminals colour it.
std::string without_colours(std::string_view text);
/// A text without what GitHub (a time) and CTest (`1: `) put before each line.
std::string without_ci_prefixes(std::string_view text);

/// What launchers and collectors of logs put before each line of a process (`0: `, `[1,0]<stdout>:`,
/// `[pod/a/b] `, a time): what stands before `at` in a line that is known, without a `#` and blanks at its ends.
std::string label_before(std::string_view line, std::size_t at);
/// `line` without the label that it begins with, whatever numbers stand there; as it is where it begins otherwise.
std::string_view without_label(std::string_view line, std::string_view label);
/// `line` with blanks in place of the label wherever it stands: a process that writes a line in pieces has it in each.
std::string without_labels(std::string_view line, std::string_view label);

/// `2026-11-23T14:05:09+01:00`, `2026-11-23 14:05:09` or `2026/11/23-14:05:09` as ISO 8601 in UTC. One without a zone
/// is taken to be UTC, since nothing says where it was written. Empty for what is none.
std::string utc_of(std::string_view written);

/// What a number is: `factor` times it is in `unit`.
struct MeasuredUnit {
  bool is_rate = false;  ///< a larger one is better
  double factor = 1;     ///< of times: to seconds; of rates 1
  std::string unit;      ///< `s`, or the rate's own: `samples/s`, `gb/ms`

  std::string_view metric() const { return is_rate ? metric::kBenchmarkRate : metric::kBenchmarkSeconds; }
};

/// `s`, `ms`, `us`, `ns`, `ps`, `min` and their words; `x/s`, `x/s/GPU`, `x per second`, `x/ms` and `Gbps` are rates,
/// and `ms/x` is a time. None for others.
std::optional<MeasuredUnit> measured_unit(std::string_view unit);
/// By its end: `train/step_ms`, `step_seconds`, `tokens_per_s`, `tokens_per_ms`, `bus_bw_gb_s`, `ms_per_step`, `GB/s`.
/// None where it says nothing, or may be a time and a rate (`tokens_s`).
std::optional<MeasuredUnit> unit_of_name(std::string_view name);

inline constexpr const char* kUnitHint =
    "print such as {\"step_ms\": 12.3, \"tokens_per_s\": 4e5}: let names end with _s, _ms, _us, _ns or _per_s, or add "
    "\"unit\": \"ms\" (s, ms, us, ns, min, .../s)";

/// Says which of two values is the better one.
enum class BetterValue : std::uint8_t { lower, higher };

/// The metric, factor and unit with which the values of a unit are stored.
struct StoredUnit {
  std::string_view metric;
  double factor = 1;
  std::string unit;
};
/// What `better` says goes before the unit. None where neither says which value is better.
std::optional<StoredUnit> stored_unit(const std::string& unit, std::optional<BetterValue> better);

inline constexpr const char* kBetterHint =
    "--better lower or --better higher says it, better = \"lower\" in hbench.toml; times are s, ms, us, ns and min, "
    "rates "
    "end with /s";

}  // namespace hbench
