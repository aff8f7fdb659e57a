#include "bench/database/age.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>

#include "collectives/base/error.hpp"
#include "collectives/base/parse_number.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr std::array kHours{Unit{"h", 1}, Unit{"d", 24}, Unit{"w", 7 * 24}};
constexpr int kMostHours = 100 * 365 * 24;

}  // namespace

std::string time_before(std::chrono::sys_seconds now, std::string_view age, std::string_view flag) {
  const auto [number, name] = parse_leading_number<int>(age).value_or(std::pair(0, age));
  const double hours = number * scale_of(name, kHours).value_or(0);
  if (hours <= 0 || hours > kMostHours)
    throw Error(ExitCode::usage, fmt::format("{} {} is no age", flag, age),
                "write a whole number and h, d or w, such as 36h, 90d or 12w");
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", now - std::chrono::hours(static_cast<int>(hours)));
}

}  // namespace hbench
