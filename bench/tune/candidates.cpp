#include "bench/tune/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "collectives/base/parameters.hpp"
#include "collectives/fusion/parameters.hpp"

namespace hbench {
namespace {

constexpr double kRatio = 4;
/// A bucket of this size is all start-up.
constexpr double kSmallest = 64 * 1024;

/// The first field: what the policy is about.
std::vector<double> first_values(std::string_view default_text, double default_value, std::int64_t bytes,
                                 std::size_t count) {
  const bool size = default_text.ends_with('B');
  double value = size ? static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 1))))
                      : default_value * std::pow(kRatio, std::floor(static_cast<double>(count - 1) / 2));
  std::vector<double> values;
  for (; values.size() < count && (!size || value >= kSmallest || values.empty()); value /= kRatio)
    values.push_back(value);
  return values;
}

std::vector<double> further_values(double default_value, std::size_t count) {
  std::vector<double> values{default_value, default_value * kRatio};
  if (count > 2) values.push_back(default_value / kRatio);
  return values;
}

/// A field's value in the unit that keeps it whole.
std::string field_text(std::string_view default_text, double value) {
  if (default_text.ends_with("/s")) return fmt::format("{:.0f}B/s", value);
  if (default_text.ends_with('s')) return fmt::format("{:.0f}ns", value * 1e9);
  return fmt::format("{:.0f}B", value);
}

}  // namespace

std::vector<std::string> tune_candidates(const Fusion& fusion, std::int64_t bytes, std::size_t most) {
  std::vector<std::string> candidates{parse_fusion(fusion.name).text()};
  if (fusion.defaults.empty()) return candidates;
  const std::vector<std::string_view> defaults = split(fusion.defaults, ':');
  const std::vector<double> default_values = read_parameters(fusion, {});
  const std::size_t further = defaults.size() == 1 ? 1 : most >= 12 ? 3 : 2;
  const std::size_t firsts = std::max<std::size_t>((most - 1) / further, 1);
  const std::vector<double> second =
      defaults.size() == 1 ? std::vector<double>{0} : further_values(default_values[1], further);
  for (const double first : first_values(defaults[0], default_values[0], bytes, firsts))
    for (const double other : second) {
      std::string text = fmt::format("{}:{}", fusion.name, field_text(defaults[0], first));
      if (defaults.size() > 1) text += ":" + field_text(defaults[1], other);
      text = parse_fusion(text).text();
      const bool known = std::ranges::find(candidates, text) != candidates.end();
      if (!known && candidates.size() < most) candidates.push_back(text);
    }
  return candidates;
}

}  // namespace hbench
