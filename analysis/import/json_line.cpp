#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>

#include "analysis/import/format.hpp"
#include "analysis/import/json_value.hpp"
#include "analysis/import/words.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

constexpr double kLeastTimeOfDay = 1e9;  ///< seconds: no benchmark takes 30 years

/// Its lines; of a text that is one flat object on several lines, all of it.
std::vector<ObjectLine> objects_of(std::string_view text) {
  std::vector<ObjectLine> lines = object_lines(text);
  const std::string_view all = trimmed(text);
  if (lines.empty() && all.starts_with('{') && all.ends_with('}') && all.find_first_of("{[", 1) == all.npos)
    lines.push_back({all, 1 + static_cast<int>(std::count(text.data(), all.data(), '\n'))});
  return lines;
}

bool is_cut(const ObjectLine& line) { return !line.text.ends_with('}') && !line.text.ends_with("},"); }

bool is_json_line(std::string_view text) {
  const std::string plain = without_ci_prefixes(text);
  const std::vector<ObjectLine> lines = objects_of(plain);
  return !lines.empty() && !is_cut(lines.front());
}

/// A number, also one in quotes; none of other values.
std::optional<double> number_of(const JsonValue& value) {
  return value.is_text()     ? grouped_number(value.text())
         : value.is_number() ? std::optional(value.number())
                             : std::nullopt;
}

/// `step_std_ms`, `stddev_ns`: how far times scatter is no time.
constexpr std::array<std::string_view, 10> kSpreads{"std", "stddev",   "stdev", "sd",  "sem",
                                                    "var", "variance", "iqr",   "mad", "cv"};
/// `eta_s`, `elapsed_seconds`: how far a job is, or may go, is no speed.
constexpr std::array<std::string_view, 7> kClocks{"eta",    "elapsed",   "remaining", "uptime",
                                                  "warmup", "wallclock", "timeout"};

/// Returns whether one of the parts of a name is one of these words.
bool has_part(std::string_view name, std::span<const std::string_view> words) {
  for (std::size_t begin = 0, end = 0; end < name.size(); begin = end + 1) {
    end = std::min(name.find_first_of("_ .-/", begin), name.size());
    if (std::ranges::find(words, name.substr(begin, end - begin)) != words.end()) return true;
  }
  return false;
}

class JsonLineReader {
 public:
  JsonLineReader(std::string_view file_name, bool several, std::optional<BetterValue> better)
      : file_name_(file_name), several_(several), better_(better) {}

  /// `{"step_ms": 12.3, "tokens_per_s": 5e5}`, or `{"step": 12.3, "unit": "ms"}`.
  void read(const ObjectLine& line) {
    const nlohmann::json json = parse_json(line.text, file_name_, line.number);
    where_ = fmt::format("{}:{}", file_name_, line.number);
    const JsonValue object(json, where_);
    const std::string unit = object.has("unit") ? object.at("unit").text() : "";
    // It tells lines apart.
    const std::string title =
        several_ && object.has("name") && object.at("name").is_text() ? object.at("name").text() + " " : "";
    const auto members = object.members();
    for (const auto& [name, value] : members)
      if (value.is_object() || value.is_array())
        return leave_out(fmt::format("{}: a line of times and rates is flat, and this has more in it", name));
    for (const auto& [name, value] : members)
      if (const auto stored = unit_of(title, name, unit, value)) add(title + name, *stored, value, line.number);
  }

  void leave_out(std::string what) {
    if (known_.insert(what).second) left_out_.push_back(std::move(what));
  }

  ImportedOutput take() {
    if (cases_.empty())
      refuse_file(
          where_,
          fmt::format("no number in it has the unit of a time or a rate{}",
                      left_out_.empty() ? "" : fmt::format(" ({})", left_out_.front())),
          fmt::format("{}; or take one of its numbers: hbench track init --pattern '\"time\": ([0-9.]+)' --unit s -- "
                      "COMMAND",
                      kUnitHint));
    return {.cases = cases_.take(), .left_out = std::move(left_out_)};
  }

 private:
  /// None where a value is neither a time nor a rate and nothing says which way is better, and where it tells of one:
  /// that is left out. A value without a unit has its name for one.
  std::optional<StoredUnit> unit_of(const std::string& title, const std::string& name, const std::string& common,
                                    const JsonValue& value) {
    const std::optional<MeasuredUnit> unit = common.empty() ? unit_of_name(name) : measured_unit(common);
    // Text that looks like a number may be a version, or a name.
    const bool is_figure = unit_of_name(name) || name == "value";
    const std::optional<double> number = value.is_text() && !is_figure ? std::nullopt : number_of(value);
    if (!number) {
      if (unit_of_name(name) || (is_figure && !common.empty())) leave_out(title + name + ": it is no number");
      return std::nullopt;
    }
    std::string why;
    if (!unit && !common.empty() && !better_) {
      leave_out(fmt::format("{}{}: '{}' is no unit of a time or a rate", title, name, common));
      return std::nullopt;
    }
    if (!unit && !better_)
      why = "its name ends with no unit of a time or a rate";
    else if (has_part(name, kSpreads))
      why = "it says how far others scatter";
    else if (has_part(name, kClocks) && name.find("_per_") == name.npos)
      why = "it says how long the job runs or waits, and not how fast it is";
    else if (unit && !unit->is_rate && *number * unit->factor > kLeastTimeOfDay)
      why = "it is a time of day";
    else if (!unit && !(*number > 0))
      why = "it is not above 0";
    if (why.empty() && unit) return StoredUnit{unit->metric(), unit->factor, unit->unit};
    if (why.empty()) return stored_unit(common.empty() ? name : common, better_);
    leave_out(fmt::format("{}: {}", name, why));
    return std::nullopt;
  }

  void add(const std::string& name, const StoredUnit& unit, const JsonValue& value, int line) {
    if (const auto [known, is_new] = lines_.try_emplace(name, line); !is_new)
      value.fail(fmt::format("is in line {} as well", known->second),
                 "print each once, or tell lines apart by a \"name\"; of a series --pattern with --take median or last "
                 "takes one (hbench track init --help)");
    const double number = value.is_text() ? *number_of(value) : value.positive();
    if (!(number > 0)) value.fail("is not above 0");
    cases_.add(imported_benchmark("json-line", name), unit.metric, std::array{number * unit.factor}, unit.unit);
  }

  std::string_view file_name_;
  bool several_;
  std::optional<BetterValue> better_;
  std::string where_;  ///< the line that is read
  ImportedCases cases_;
  std::map<std::string, int> lines_;  ///< of each benchmark
  std::vector<std::string> left_out_;
  std::set<std::string> known_;  ///< what is left out, each once
};

ImportedOutput parse_json_lines(std::string_view text, std::string_view file_name, const ImportHints& hints) {
  const std::string plain = without_ci_prefixes(text);
  const std::vector<ObjectLine> lines = objects_of(plain);
  if (lines.empty())
    refuse_file(file_name, "none of its lines is a JSON object",
                "print one as the last line, such as {\"step_ms\": 12.3}");
  JsonLineReader reader(file_name, lines.size() > 1, hints.better);
  for (const ObjectLine& line : lines)
    if (&line != &lines.front() && is_cut(line))
      reader.leave_out(fmt::format("line {}: it is cut off", line.number));
    else
      reader.read(line);
  return reader.take();
}

}  // namespace

extern constinit const ImportFormat kJsonLineFormat{.name = "json-line",
                                                    .summary = "lines of JSON, such as {\"step_ms\": 12.3}",
                                                    .example = "python3 train.py > 1.log",
                                                    .recognises = is_json_line,
                                                    .parse = parse_json_lines};

}  // namespace hbench
