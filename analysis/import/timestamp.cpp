#include "analysis/import/timestamp.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <optional>

namespace hbench {
namespace {

/// The digits of a text with a place for each: `dddd-dd-dd`. None where another character stands.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int value = 0;
  const char* end = text.data() + at + count;
  const auto [stop, status] = std::from_chars(text.data() + at, end, value);
  if (status != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

/// Minutes east of UTC: `+01:00`, `Z`, nothing. None for other ends.
std::optional<int> offset_of(std::string_view zone) {
  if (zone.empty() || zone == "Z") return 0;
  const auto hours = digits(zone, 1, 2), minutes = digits(zone, 4, 2);
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':' || !hours || !minutes)
    return std::nullopt;
  return (zone[0] == '-' ? -1 : 1) * (60 * *hours + *minutes);
}

}  // namespace

std::string utc_of(std::string_view written) {
  using namespace std::chrono;
  // Year, month, day, hour, minute and second, whatever stands between them.
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> kPlaces{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  constexpr std::size_t kLength = 19;
  std::array<int, kPlaces.size()> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto part = digits(written, kPlaces[i].first, kPlaces[i].second);
    if (!part) return "";
    parts[i] = *part;
  }
  const auto offset = offset_of(written.substr(kLength));
  const year_month_day day{year(parts[0]), month(static_cast<unsigned>(parts[1])),
                           std::chrono::day(static_cast<unsigned>(parts[2]))};
  if (!offset || !day.ok() || parts[3] > 23 || parts[4] > 59 || parts[5] > 60) return "";
  const sys_seconds time = sys_days(day) + hours(parts[3]) + minutes(parts[4]) + seconds(parts[5]) - minutes(*offset);
  // By its parts: fmt takes a time through nanoseconds, of which 64 bits end in the year 2262.
  const sys_days date = floor<days>(time);
  const year_month_day utc{date};
  const hh_mm_ss clock{time - date};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(utc.year()),
                     static_cast<unsigned>(utc.month()), static_cast<unsigned>(utc.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

}  // namespace hbench
