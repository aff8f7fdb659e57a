#include "bench/submit/slurm_script.hpp"

#include <cstdint>
#include <vector>

#include "collectives/base/parameters.hpp"
#include "collectives/base/parse_number.hpp"

namespace hbench {
namespace {

/// Ten years, in seconds: no number in a time is more.
constexpr double kMost = 10 * 365.0 * 24 * 3600;

/// A whole number without a sign.
std::optional<double> whole(std::string_view text) {
  const auto number = parse_number<std::uint32_t>(text);
  return number && *number <= kMost ? std::optional<double>(*number) : std::nullopt;
}

}  // namespace

std::optional<Seconds> slurm_time(std::string_view text) {
  const std::size_t dash = text.find('-');
  const bool has_days = dash != text.npos;
  double seconds = 0;
  if (has_days) {
    const std::optional<double> days = whole(text.substr(0, dash));
    if (!days) return std::nullopt;
    seconds = *days * 24 * 3600;
    text = text.substr(dash + 1);
  }
  std::vector<double> numbers;
  for (const std::string_view part : split(text, ':')) {
    const std::optional<double> number = whole(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() > 3) return std::nullopt;
  // What the first number is of: behind days always hours, else minutes unless there are three.
  double unit = has_days || numbers.size() == 3 ? 3600 : 60;
  for (const double number : numbers) {
    seconds += number * unit;
    unit /= 60;
  }
  return seconds > 0 ? std::optional(Seconds(seconds)) : std::nullopt;
}

}  // namespace hbench
