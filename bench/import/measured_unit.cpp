#include "bench/import/measured_unit.hpp"

#include <array>
#include <utility>

namespace hbench {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 9> kTimes{{{"s", 1},
                                                                     {"sec", 1},
                                                                     {"seconds", 1},
                                                                     {"ms", 1e-3},
                                                                     {"us", 1e-6},
                                                                     {"\xc2\xb5s", 1e-6},  // the micro sign
                                                                     {"\xce\xbcs", 1e-6},  // the Greek letter
                                                                     {"ns", 1e-9},
                                                                     {"min", 60}}};

}  // namespace

std::optional<MeasuredUnit> measured_unit(std::string_view unit) {
  for (const auto& [name, seconds] : kTimes)
    if (unit == name) return MeasuredUnit{.is_rate = false, .factor = seconds, .unit = "s"};
  for (const std::string_view end : {"/s", "/sec", "/second"})
    if (unit.size() > end.size() && unit.ends_with(end))
      return MeasuredUnit{.is_rate = true, .factor = 1, .unit = std::string(unit)};
  return std::nullopt;
}

std::optional<MeasuredUnit> unit_of_name(std::string_view name) {
  for (const std::string_view end : {"per_s", "per_sec", "per_second"})
    if (name.ends_with(end)) {
      // Of `train_tokens_per_s` the last word before it is what is counted.
      std::string_view counted = name.substr(0, name.size() - end.size());
      if (counted.ends_with('_')) counted.remove_suffix(1);
      counted = counted.substr(counted.rfind('_') + 1);
      return MeasuredUnit{.is_rate = true, .factor = 1, .unit = std::string(counted.empty() ? "1" : counted) + "/s"};
    }
  if (name.find('/') != name.npos) return measured_unit(name);
  const std::size_t underscore = name.rfind('_');
  const std::string_view end = underscore == name.npos ? name : name.substr(underscore + 1);
  if (end == "min") return std::nullopt;  // `latency_min` is the least one
  return measured_unit(end);
}

}  // namespace hbench
