#include "bench/command/values.hpp"

#include <fmt/format.h>

#include <cmath>

#include "collectives/base/error.hpp"
#include "collectives/base/parse_number.hpp"
#include "collectives/base/units_text.hpp"
#include "workloads/step/transformer.hpp"

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
  constexpr Unit kUnits[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
  const double seconds = parse_amount(text, kUnits).value_or(0);
  if (seconds > 0 && seconds < 1e9) return Seconds(seconds);
  throw Error(ExitCode::usage, fmt::format("{} {}: not a time", flag, text), "write a time such as 4h, 90min or 2d");
}

Check positive_rate() {
  return {[](const std::string& text) {
    const double rate = parse_number<double>(text).value_or(0);
    return rate > 0 && std::isfinite(rate) ? "" : fmt::format("'{}' is not a rate above 0", text);
  }};
}

void add_workloads(Arguments& app, std::vector<std::string>& workloads) {
  app.add_parsed("--workload", workloads, split_workloads,
                 "models and timelines, a timeline file of your own, or a transformer by its numbers: "
                 "transformer:layers=12,hidden=768,... (comma list)");
}

}  // namespace hbench
