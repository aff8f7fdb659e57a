#include "bench/command/values.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {

Seconds time_flag(const std::string& text, std::string_view flag) {
  try {
    const Seconds time = parse_seconds(text);
    if (time.value <= 0) throw Error(ExitCode::usage, "it must be more than 0");
    return time;
  } catch (const Error& error) {
    throw Error(ExitCode::usage, fmt::format("{} {}: {}", flag, text, error.what()),
                "write a time such as 30s or 500ms");
  }
}

Seconds long_time_flag(std::string_view text, std::string_view flag) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}}};
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const auto& [name, seconds] : kUnits)
    if (status == std::errc() && unit == name && number > 0 && number * seconds < 1e9) return Seconds(number * seconds);
  throw Error(ExitCode::usage, fmt::format("{} {}: not a time", flag, text), "write a time such as 4h, 90min or 2d");
}

}  // namespace hbench
