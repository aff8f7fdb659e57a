#include <fmt/format.h>

#include <array>

#include "analysis/import/format.hpp"
#include "analysis/import/json_value.hpp"
#include "analysis/import/words.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// A line of the text, and its number.
struct Line {
  std::string_view text;
  int number = 0;
};

/// The last line that begins an object. Number 0: there is none.
Line last_object(std::string_view text) {
  Line found;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (line.starts_with("{\"") || line.starts_with("{ ")) found = {line, number};
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

bool recognises(std::string_view text) {
  const Line line = last_object(text);
  return line.number > 0 && line.text.ends_with('}');
}

/// `{"step_ms": 12.3, "tokens_per_s": 5e5}`, or `{"step": 12.3, "unit": "ms"}`.
ImportedOutput parse(std::string_view text, std::string_view file_name, const ImportHints& /*hints*/) {
  const Line line = last_object(text);
  if (line.number == 0)
    throw Error(ExitCode::usage, fmt::format("{}: none of its lines is a JSON object", file_name),
                "print one as the last line, such as {\"step_ms\": 12.3}");
  const nlohmann::json json = parse_json(line.text, file_name, line.number);
  const std::string where = fmt::format("{}:{}", file_name, line.number);
  const JsonValue object(json, where);
  const std::string common = object.has("unit") ? object.at("unit").text() : "";
  ImportedOutput output;
  ImportedCases cases;
  for (const auto& [name, value] : object.members()) {
    if (value.is_null() && unit_of_name(name)) output.left_out.push_back(fmt::format("{}: it is no number", name));
    if (!value.is_number()) continue;
    const std::optional<MeasuredUnit> unit = common.empty() ? unit_of_name(name) : measured_unit(common);
    if (!unit) {
      if (!common.empty()) object.at("unit").fail("is no unit of a time or a rate", kUnitHint);
      output.left_out.push_back(fmt::format("{}: its name ends with no unit of a time or a rate", name));
      continue;
    }
    cases.add(imported_benchmark("json-line", name), unit->metric(), std::array{value.positive() * unit->factor},
              unit->unit);
  }
  if (cases.empty())
    throw Error(ExitCode::usage,
                fmt::format("{}: it has no time and no rate{}", where,
                            output.left_out.empty() ? "" : fmt::format(" ({})", output.left_out.front())),
                kUnitHint);
  output.cases = cases.take();
  return output;
}

}  // namespace

extern const ImportFormat kJsonLineFormat;
constinit const ImportFormat kJsonLineFormat{.name = "json-line",
                                             .summary = "the last line that is JSON, such as {\"step_ms\": 12.3}",
                                             .example = "python3 train.py > 1.log",
                                             .recognises = recognises,
                                             .parse = parse};

}  // namespace hbench
