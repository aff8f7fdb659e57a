#include "analysis/records/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "workloads/presets/preset.hpp"

namespace hbench {

std::string percent(double share) {
  return share < 100 ? fmt::format("{:.1f} %", 100 * share) : fmt::format("{:.3g} %", 100 * share);
}

std::string typed_percent(double share) { return fmt::format("{:.4g} %", 100 * share); }

std::string logarithm_text(double value) { return fmt::format("{:.3f}", value); }

std::string whole_percent(double fraction) {
  const double percent = fraction * 100;
  return fmt::format("{:.{}f}\u00a0%", percent, percent < 0.95 ? 1 : 0);
}

std::string signed_percent(double share) { return (share < 0 ? "-" : "+") + percent(std::fabs(share)); }

std::string interval_text(const Interval& interval) {
  return fmt::format("{:+.1f} to {:+.1f} %", 100 * interval.low, 100 * interval.high);
}

std::string presets_in_words(const std::set<std::string>& names) {
  std::vector<std::string> words;
  // What follows the colon is how it does so.
  for (const Preset* each : presets())
    if (names.contains(std::string(each->name)))
      words.push_back(fmt::format("{} ({})", each->summary.substr(0, each->summary.find(':')), each->name));
  return words.empty() ? "" : fmt::format(" Steps are as in {}.", fmt::join(words, ", "));
}

std::string time_text(double seconds) {
  for (const auto& [unit, factor] : {std::pair("s", 1.0), std::pair("ms", 1e3), std::pair("us", 1e6)})
    if (seconds * factor >= 1) return fmt::format("{:.4g} {}", seconds * factor, unit);
  return fmt::format("{:.4g} ns", seconds * 1e9);
}

std::string value_text(double value, std::string_view unit) {
  if (unit == "s") return time_text(value);
  if (unit == "B/s") return fmt::format("{:.4g} GB/s", value / 1e9);
  return value >= 1e4 && value < 1e7 ? fmt::format("{:.0f} {}", value, unit) : fmt::format("{:.4g} {}", value, unit);
}

std::string some_of(std::span<const std::string> names, std::size_t named, std::string_view between) {
  const auto first = names.first(std::min(named, names.size()));
  const std::size_t more = names.size() - first.size();
  return fmt::format("{}{}", fmt::join(first, between), more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string labels_text(const std::map<std::string, std::string>& labels) {
  std::vector<std::string> all;
  for (const auto& [key, value] : labels) all.push_back(fmt::format("{}={}", key, value));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string short_commit(const std::string& commit) { return commit.substr(0, 12); }

}  // namespace hbench
