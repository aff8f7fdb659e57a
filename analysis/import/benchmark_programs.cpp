#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/format.hpp"
#include "analysis/import/json_value.hpp"
#include "analysis/import/number_pattern.hpp"
#include "analysis/import/words.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"

/// Benchmark programs that list benchmarks by name, each with a figure and its unit: as text, where a format is an
/// expression that finds them, and as JSON, where it is the places of what is needed.

namespace hbench {
namespace {

/// The benchmarks of one file.
class NamedFigures {
 public:
  NamedFigures(std::string_view file_name, const ImportHints& hints) : file_name_(file_name), better_(hints.better) {}

  /// `why` there are no values, where there are none: after the benchmark's name. A benchmark is left out then, and
  /// where nothing says which value is better: its unit, `better`, or the user. \throws Error (usage) for a name that
  /// is empty or was there.
  void add(std::string_view name, const std::vector<double>& values, const std::string& unit, std::string_view why,
           std::optional<BetterValue> better = {}) {
    // Tables wrap it.
    std::string words = fmt::format("{}", fmt::join(words_of(one_line(std::string(name))), " "));
    if (words.empty()) refuse_file(file_name_, "a benchmark has no name", "is it as the program wrote it?");
    if (!names_.insert(words).second)
      refuse_file(file_name_, fmt::format("two benchmarks are called '{}'", words),
                  "a file is what one process wrote: give each a file, or benchmarks names of their own");
    if (!better && !measured_unit(unit)) better = better_;
    const std::optional<StoredUnit> stored = stored_unit(unit, better);
    if (!stored)
      return leave_out(fmt::format("{}: nothing says whether more or less of '{}' is better", words, unit),
                       kBetterHint);
    if (values.empty()) return leave_out(fmt::format("{}: {}", words, why), "did the program fail?");
    std::vector<double> scaled;
    for (const double value : values) scaled.push_back(value * stored->factor);
    cases_.add(imported_benchmark("benchmark", std::move(words)), stored->metric, scaled, stored->unit);
  }

  /// \throws Error (usage) where there is no benchmark, with why the first was left out.
  ImportedOutput take() {
    if (cases_.empty()) refuse_file(file_name_, left_out_.empty() ? "it has no benchmark" : left_out_.front(), cure_);
    return {.cases = cases_.take(), .left_out = std::move(left_out_)};
  }

 private:
  void leave_out(std::string what, const char* cure) {
    if (left_out_.empty()) cure_ = cure;
    left_out_.push_back(std::move(what));
  }

  std::string_view file_name_;
  std::optional<BetterValue> better_;
  ImportedCases cases_;
  std::set<std::string> names_;
  std::vector<std::string> left_out_;
  const char* cure_ = "was none of its benchmarks run?";  ///< of what was left out first
};

/// Groups are the name, its time and the unit. A long name has a line of its own; of three times the middle one is the
/// estimate, and `change:` is in per cent.
constexpr std::string_view kCriterion = R"((?m)^(\S[^\n]*?)\s+time:\s+\[[0-9.]+ \S+ ([0-9.]+) (\S+) [0-9.]+ \S+\])";
/// The median, which the runner rounds and writes with thousands.
constexpr std::string_view kLibtest = R"((?m)^test (\S.*?) +\.\.\. bench: +([0-9.,]+) (\S+)/iter)";
/// Three lines of a table: samples, iterations and the estimate; then the mean, which is taken. Names go on over lines.
constexpr std::string_view kCatch2 =
    R"((?m)^((?:[^\s.~=-][^\n]*\n)*?\S[^\n]*?) +[0-9]+ +[0-9]+ +[0-9.]+ \S+[ \r]*\n +([0-9.]+) (\S+) +[0-9.]+ \S+ +[0-9.]+ \S+)";

template <const std::string_view& kExpression>
bool recognises_text(std::string_view text) {
  return !matches_of(kExpression, without_ci_prefixes(text), 1).empty();
}

template <const std::string_view& kExpression>
ImportedOutput parse_text(std::string_view text, std::string_view file_name, const ImportHints& hints) {
  NamedFigures figures(file_name, hints);
  const std::string plain = without_ci_prefixes(text);
  for (const TextMatch& match : matches_of(kExpression, plain)) {
    const std::optional<double> value = grouped_number(match[2]);
    figures.add(match[1], value && *value > 0 ? std::vector{*value} : std::vector<double>(), std::string(match[3]),
                fmt::format("its value is {}", match[2]));
  }
  return figures.take();
}

/// A path names members of members: `stats.median`. An empty one is of nothing.
struct BenchmarkList {
  std::string_view place = {};  ///< an expression whose group has the marks; empty: they are anywhere
  std::array<std::string_view, 3> marks;
  std::string_view list = {};             ///< a path; empty: the document is the list, or each line has an object
  std::array<std::string_view, 4> names;  ///< paths to what tells a benchmark from the others
  std::string_view figure, each = {};     ///< paths: its figure, and its iterations where there are any
  std::string_view unit, unit_path = {};  ///< of the figures, or where it is said
  std::string_view codes = {};            ///< a path: the exit codes of its runs
  /// The beginnings of the names of members that tell what was measured, when and by which build: of benchmarks that
  /// are called alike, all others that differ tell them apart. Empty: nothing does.
  std::span<const std::string_view> outcomes = {};
};
constexpr BenchmarkList kHyperfine{.marks = {"\"results\"", "\"command\"", "\"median\""},
                                   .list = "results",
                                   .names = {"command"},
                                   .figure = "median",
                                   .each = "times",
                                   .unit = "s",
                                   .codes = "exit_codes"};
// Its rounds are thousands, and the median of them is a figure of its own.
constexpr BenchmarkList kPytest{.marks = {"\"machine_info\"", "\"benchmarks\"", "\"stats\""},
                                .list = "benchmarks",
                                .names = {"fullname"},
                                .figure = "stats.median",
                                .unit = "s"};
constexpr BenchmarkList kJmh{.marks = {"\"benchmark\"", "\"mode\"", "\"primaryMetric\""},
                             .names = {"benchmark", "params", "mode"},
                             .figure = "primaryMetric.score",
                             .each = "primaryMetric.rawData",
                             .unit_path = "primaryMetric.scoreUnit"};
constexpr std::array<std::string_view, 5> kLlamaOutcomes{"avg_", "stddev_", "samples_", "test_time", "build_"};
constexpr BenchmarkList kLlamaBench{.marks = {"\"n_prompt\"", "\"n_gen\"", "\"avg_ts\""},
                                    .names = {"model_type", "n_prompt", "n_gen", "n_depth"},
                                    .figure = "avg_ts",
                                    .each = "samples_ts",
                                    .unit = "tokens/s",
                                    .outcomes = kLlamaOutcomes};
constexpr BenchmarkList kNameUnitValue{.place = R"((?m)^\[\s*\{([^{}]*))",
                                       .marks = {"\"name\"", "\"unit\"", "\"value\""},
                                       .names = {"name"},
                                       .figure = "value",
                                       .unit_path = "unit"};

/// A measure that Bencher knows; of others the user says which way is better.
struct BencherMeasure {
  std::string_view name, unit;
  std::optional<BetterValue> better = {};
};
constexpr std::array kBencherMeasures{BencherMeasure{"latency", "ns"}, BencherMeasure{"throughput", "ops/s"},
                                      BencherMeasure{"build-time", "s"},
                                      BencherMeasure{"file-size", "B", BetterValue::lower}};
constexpr std::string_view kBencher =
    R"((?m)^\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{[^{}]*"value")";

std::optional<JsonValue> found(JsonValue value, std::string_view path) {
  for (const std::string_view part : split(path, '.')) {
    const std::string name(part);
    if (!value.has(name.c_str())) return std::nullopt;
    value = value.at(name.c_str());
  }
  return value;
}

/// `sort`, ` n_prompt=512`, ` size=10 type=a`: a part of a name.
std::string name_of(const JsonValue& value, std::string_view key) {
  std::string all;
  if (value.is_object())
    for (const auto& [name, member] : value.members())
      all += fmt::format(" {}={}", name, member.is_text() ? member.text() : member.shown());
  if (value.is_text()) all = " " + value.text();
  if (value.is_number()) all = fmt::format(" {}={}", key, value.shown());
  return all;
}

/// Adds a number, or those of arrays of arrays. Whether all are numbers above 0.
bool add_numbers(const JsonValue& value, std::vector<double>& all) {
  if (value.is_array())
    return std::ranges::all_of(value.elements(), [&](const JsonValue& each) { return add_numbers(each, all); });
  if (!value.is_number() || !(value.number() > 0)) return false;
  all.push_back(value.number());
  return true;
}

/// None where they are no numbers above 0.
std::vector<double> numbers_of(const std::optional<JsonValue>& value) {
  std::vector<double> all;
  if (value && !add_numbers(*value, all)) all.clear();
  return all;
}

/// Returns how the runs of a benchmark failed; empty where none did.
std::string failure_of(const std::optional<JsonValue>& codes) {
  if (!codes || !codes->is_array()) return "";
  for (const JsonValue& code : codes->elements())
    if (code.shown() != "0")
      return code.is_null() ? "its runs were ended by a signal" : "its runs ended with " + code.shown();
  return "";
}

/// The scalar members of an entry that say how it was run.
std::map<std::string, std::string> settings_of(const BenchmarkList& list, const JsonValue& entry) {
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : entry.members()) {
    const auto begins_it = [&](std::string_view begin) { return name.starts_with(begin); };
    if (value.is_array() || value.is_object() || std::ranges::any_of(list.outcomes, begins_it)) continue;
    all.emplace(name, value.is_text() ? value.text() : value.shown());
  }
  return all;
}

/// ` n_threads=4`: the settings of an entry that are others in another entry of the same name.
std::vector<std::string> differences(const BenchmarkList& list, const std::vector<JsonValue>& entries) {
  std::map<std::string, std::set<std::string>> values;  // of each setting; an entry without it has an empty one
  std::vector<std::map<std::string, std::string>> settings;
  for (const JsonValue& entry : entries)
    for (const auto& [name, value] : settings.emplace_back(settings_of(list, entry))) values[name].insert(value);
  for (const auto& each : settings)
    for (auto& [name, all] : values)
      if (!each.contains(name)) all.insert("");
  std::vector<std::string> texts;
  for (const auto& each : settings) {
    std::string& text = texts.emplace_back();
    for (const auto& [name, value] : each)
      if (values[name].size() > 1) text += fmt::format(" {}={}", name, value);
  }
  return texts;
}

void read_entry(const BenchmarkList& list, const std::string& name, const JsonValue& entry, NamedFigures& figures) {
  const std::optional<JsonValue> figure = found(entry, list.figure), unit = found(entry, list.unit_path);
  std::vector<double> values = numbers_of(found(entry, list.each));
  if (values.empty()) values = numbers_of(figure);
  std::string why = failure_of(found(entry, list.codes));
  if (why.empty())
    why = fmt::format("its value is {}", figure ? figure->shown() : "not there");
  else
    values.clear();
  figures.add(name, values, unit && unit->is_text() ? unit->text() : std::string(list.unit), why);
}

void read_entries(const BenchmarkList& list, const std::vector<JsonValue>& entries, NamedFigures& figures) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::string& name = names.emplace_back();
    for (const std::string_view path : list.names)
      if (const auto part = found(entries[i], path)) name += name_of(*part, path);
    alike[name].push_back(i);
  }
  for (const auto& [name, indices] : alike) {
    if (indices.size() < 2 || list.outcomes.empty()) continue;
    std::vector<JsonValue> same;
    for (const std::size_t i : indices) same.push_back(entries[i]);
    const std::vector<std::string> apart = differences(list, same);
    for (std::size_t i = 0; i < indices.size(); ++i) names[indices[i]] += apart[i];
  }
  for (std::size_t i = 0; i < entries.size(); ++i) read_entry(list, names[i], entries[i], figures);
}

template <const BenchmarkList& kList>
bool recognises(std::string_view text) {
  if (!kList.place.empty()) {
    const std::vector<TextMatch> matches = matches_of(kList.place, text, 1);
    text = matches.empty() ? std::string_view() : matches[0][1];
  }
  return std::ranges::all_of(kList.marks, [&](std::string_view mark) { return text.find(mark) != text.npos; });
}

template <const BenchmarkList& kList>
ImportedOutput parse(std::string_view text, std::string_view file_name, const ImportHints& hints) {
  NamedFigures figures(file_name, hints);
  if (kList.list.empty() && matches_of(R"((?m)^\s*\[\s*\{)", text, 1).empty()) {
    std::deque<std::pair<std::string, nlohmann::json>> lines;  // places and what stands there, which values refer to
    std::vector<JsonValue> entries;
    for (const ObjectLine& line : object_lines(text)) {
      const auto& [where, json] = lines.emplace_back(fmt::format("{}:{}", file_name, line.number),
                                                     parse_json(line.text, file_name, line.number));
      entries.emplace_back(json, where);
    }
    read_entries(kList, entries, figures);
    return figures.take();
  }
  const nlohmann::json json = parse_json(text, file_name);
  const JsonValue root(json, file_name);
  const std::optional<JsonValue> list = kList.list.empty() ? root : found(root, kList.list);
  if (!list) root.fail(fmt::format("has no {}", kList.list));
  read_entries(kList, list->elements(), figures);
  return figures.take();
}

/// Lines of one's own may begin with such an object, and have others behind it.
bool recognises_bencher(std::string_view text) {
  return !matches_of(kBencher, text, 1).empty() && !has_second_json(text);
}

ImportedOutput parse_bencher(std::string_view text, std::string_view file_name, const ImportHints& hints) {
  const nlohmann::json json = parse_json(text, file_name);
  NamedFigures figures(file_name, hints);
  for (const auto& [name, measures] : JsonValue(json, file_name).members())
    for (const auto& [measure, figure] : measures.members()) {
      const auto* known = std::ranges::find(kBencherMeasures, measure, &BencherMeasure::name);
      const BencherMeasure as = known == kBencherMeasures.end() ? BencherMeasure{measure, measure} : *known;
      const JsonValue value = figure.at("value");
      figures.add(fmt::format("{} {}", name, measure), numbers_of(value), std::string(as.unit),
                  fmt::format("its value is {}", value.shown()), as.better);
    }
  return figures.take();
}

}  // namespace

extern constinit const ImportFormat kCriterionFormat{"criterion", "what Criterion prints: the estimate of each time",
                                                     "cargo bench > 1.txt", recognises_text<kCriterion>,
                                                     parse_text<kCriterion>};
extern constinit const ImportFormat kLibtestFormat{"libtest", "what cargo bench prints of #[bench]: the median",
                                                   "cargo +nightly bench > 1.txt", recognises_text<kLibtest>,
                                                   parse_text<kLibtest>};
extern constinit const ImportFormat kCatch2Format{"catch2", "the tables of Catch2's BENCHMARK: the mean",
                                                  "./tests '[!benchmark]' > 1.txt", recognises_text<kCatch2>,
                                                  parse_text<kCatch2>};
extern constinit const ImportFormat kHyperfineFormat{"hyperfine", "hyperfine's JSON: the time of each run",
                                                     "hyperfine --export-json 1.json ./my_program",
                                                     recognises<kHyperfine>, parse<kHyperfine>};
extern constinit const ImportFormat kPytestBenchmarkFormat{
    "pytest-benchmark", "pytest-benchmark's JSON: the median of each test", "pytest --benchmark-json=1.json",
    recognises<kPytest>, parse<kPytest>};
extern constinit const ImportFormat kJmhFormat{"jmh", "JMH's JSON: the score of each iteration",
                                               "java -jar benchmarks.jar -rf json -rff 1.json", recognises<kJmh>,
                                               parse<kJmh>};
extern constinit const ImportFormat kLlamaBenchFormat{"llama-bench", "llama-bench's JSON and JSON lines: tokens/s",
                                                      "llama-bench -m model.gguf -o jsonl > 1.jsonl",
                                                      recognises<kLlamaBench>, parse<kLlamaBench>};
extern constinit const ImportFormat kNameUnitValueFormat{
    "name-unit-value", "lists of name, unit and value: github-action-benchmark's", "./my_benchmark --json > 1.json",
    recognises<kNameUnitValue>, parse<kNameUnitValue>};
extern constinit const ImportFormat kBencherFormat{"bencher",
                                                   "Bencher's JSON: {\"a\": {\"latency\": {\"value\": 12.3}}}, in ns",
                                                   "bencher mock > 1.json", recognises_bencher, parse_bencher};

}  // namespace hbench
