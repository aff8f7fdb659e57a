#include "bench/track/words.hpp"

#include <fmt/format.h>

#include <utility>

namespace hbench {

std::string interval_text(const Interval& interval) {
  return fmt::format("{:+.1f} to {:+.1f} %", 100 * interval.low, 100 * interval.high);
}

std::string time_text(double seconds) {
  for (const auto& [unit, factor] : {std::pair("s", 1.0), std::pair("ms", 1e3), std::pair("us", 1e6)})
    if (seconds * factor >= 1) return fmt::format("{:.4g} {}", seconds * factor, unit);
  return fmt::format("{:.4g} ns", seconds * 1e9);
}

std::string value_text(double value, std::string_view unit) {
  if (unit == "s") return time_text(value);
  if (unit == "B/s") return fmt::format("{:.4g} GB/s", value / 1e9);
  return fmt::format("{:.4g} {}", value, unit);
}

}  // namespace hbench
