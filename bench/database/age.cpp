#include "bench/database/age.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collectives/base/error.hpp"
#include "collectives/base/parse_number.hpp"

namespace hbench {
namespace {

using std::chrono::hours;

struct Unit {
  std::string_view name;
  hours length;
};
constexpr std::array kUnits{Unit{"h", hours(1)}, Unit{"d", hours(24)}, Unit{"w", hours(7 * 24)}};
constexpr hours kMost(100 * 365 * 24);

}  // namespace

std::string time_before(std::chrono::sys_seconds now, std::string_view age, std::string_view flag) {
  const auto [number, name] = parse_leading_number<int>(age).value_or(std::pair(0, age));
  const auto unit = std::ranges::find(kUnits, name, &Unit::name);
  if (number <= 0 || unit == kUnits.end() || number > kMost / unit->length)
    throw Error(ExitCode::usage, fmt::format("{} {} is no age", flag, age),
                "write a whole number and h, d or w, such as 36h, 90d or 12w");
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", now - number * unit->length);
}

}  // namespace hbench
