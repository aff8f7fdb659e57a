#include "bench/command/common_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/import/format.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"
#include "workloads/step/transformer.hpp"

namespace hbench {
namespace {

bool in_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}
bool is_control(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

void add_label(std::map<std::string, std::string>& labels, const std::string& pair) {
  const std::size_t equals = pair.find('=');
  const std::string key = pair.substr(0, equals);
  const std::string value = equals == pair.npos ? "" : pair.substr(equals + 1);
  if (key.empty() || value.empty() || !std::ranges::all_of(key, in_key) || std::ranges::any_of(value, is_control))
    throw Error(ExitCode::usage, fmt::format("--label '{}' is not a label", pair),
                "write KEY=VALUE, such as branch=main; keys have letters, digits, '.', '-' and '_'");
  if (!labels.emplace(key, value).second)
    throw Error(ExitCode::usage, fmt::format("--label {}: '{}' is given more than once", pair, key),
                "give each key once");
}

}  // namespace

std::optional<std::string> passed_value(const std::vector<std::string>& flags, std::string_view flag) {
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i].starts_with(flag)) continue;
    const std::string rest = flags[i].substr(flag.size());
    if (rest.starts_with('=')) return rest.substr(1);
    if (rest.empty() && i + 1 < flags.size()) return flags[i + 1];
  }
  return std::nullopt;
}

void add_usual(std::vector<std::string>& flags, std::initializer_list<std::pair<const char*, const char*>> usual) {
  for (const auto& [flag, value] : usual)
    if (!passed_value(flags, flag)) flags.insert(flags.end(), {flag, value});
}

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
    constexpr double kMost = 1e12;
    const double rate = parse_number<double>(text).value_or(0);
    if (std::isfinite(rate) && rate > kMost) return fmt::format("'{}' is no rate: above {:g} samples/s", text, kMost);
    return rate > 0 && std::isfinite(rate) ? "" : fmt::format("'{}' is not a rate above 0", text);
  }};
}

void add_workloads(Arguments& app, std::vector<std::string>& workloads, const char* help) {
  app.add_parsed("--workload", workloads, split_workloads, help);
}

void add_sizes(Arguments& app, std::int64_t& least, std::int64_t& most, const std::string& what, const char* from,
               const char* to) {
  app.add_parsed("-b,--minbytes", least, parse_size, "smallest size" + what, from);
  app.add_parsed("-e,--maxbytes", most, parse_size, "largest size" + what, to);
}

void add_import_hints(Arguments& app, ImportHints& hints) {
  app.add_option("--collective", hints.collective,
                 "what was measured, where the file does not say it: all-reduce, reduce-scatter, all-gather or "
                 "broadcast");
  app.add_option("--ranks", hints.ranks, "of it, where the file does not say it", in_range(1, kMillion));
  app.add_option("--nodes", hints.nodes, "of it, where the file does not say it", in_range(1, kMillion));
}

void add_verbosity(Arguments& arguments, Verbosity& value) {
  Option* quiet = arguments.add_flag_callback(
      "-q,--quiet", [&value] { value = Verbosity::quiet; }, "no progress");
  arguments
      .add_flag_callback(
          "-v,--verbose", [&value] { value = Verbosity::verbose; },
          "each piece of work on a line, with the seconds since the start")
      ->excludes(quiet);
}

void add_labels(Arguments& arguments, std::map<std::string, std::string>& labels, const char* help) {
  arguments.add_each(
      "--label", [&labels](const std::string& pair) { add_label(labels, pair); }, help);
}

}  // namespace hbench
