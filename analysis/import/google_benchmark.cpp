#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <set>

#include "analysis/import/format.hpp"
#include "analysis/import/json_value.hpp"
#include "analysis/import/words.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"

/// Google Benchmark's `--benchmark_format=json` (github.com/google/benchmark, docs/user_guide.md): what identifies a
/// benchmark is its `run_name`; repetitions are further entries with the same one; aggregates of them are left out, but
/// for the median where there is nothing else. The real time counts: processor time says nothing of other threads, of a
/// GPU, and of waiting.

namespace hbench {
namespace {

bool is_google_benchmark(std::string_view text) {
  return text.find("\"benchmarks\"") != text.npos && text.find("\"context\"") != text.npos &&
         (text.find("\"num_cpus\"") != text.npos || text.find("\"repetition_index\"") != text.npos);
}

std::string file_of(const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); }

/// `32 KiB, 1 MiB, 32 MiB`: the sizes of the caches, which tell processors apart that it does not name.
std::string caches_text(const JsonValue& context) {
  std::string text;
  if (!context.has("caches")) return text;
  for (const JsonValue& cache : context.at("caches").elements()) {
    if (cache.at("type").text() == "Instruction") continue;
    text += (text.empty() ? "" : ", ") + exact_text(Bytes(static_cast<double>(cache.at("size").bytes())));
  }
  return text;
}

void read_context(const JsonValue& context, ImportedOutput& output) {
  if (context.has("executable")) output.program = file_of(context.at("executable").text());
  if (context.has("date")) output.started_at = utc_of(context.at("date").text());
  if (context.has("num_cpus")) output.environment["cores"] = fmt::format("{}", context.at("num_cpus").whole(1));
  if (const std::string caches = caches_text(context); !caches.empty()) output.environment["cpu_caches"] = caches;
  // Its own loop is slower then. How the benchmarked program was built it does not know.
  if (context.has("library_build_type") && context.at("library_build_type").text() != "release")
    output.environment["settings"] = "library_build_type=" + context.at("library_build_type").text();
}

/// Versions before 1.5 do not mark aggregates otherwise.
bool is_aggregate(const JsonValue& entry, const std::string& name) {
  if (entry.has("run_type")) return entry.at("run_type").text() == "aggregate";
  for (const std::string_view end : {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"})
    if (name.ends_with(end)) return true;
  return false;
}

/// What a user skipped, or an error of it, in words; empty for neither.
std::string message_of(const JsonValue& entry, const char* name) {
  return entry.has(name) && entry.at(name).is_text() ? entry.at(name).text() : "";
}

class GoogleBenchmarkReader {
 public:
  explicit GoogleBenchmarkReader(ImportedOutput& output) : output_(output) {}

  void read(const JsonValue& entry) {
    const std::string name = entry.at(entry.has("run_name") ? "run_name" : "name").text();
    if (name.empty()) entry.fail("has no name");
    if (is_aggregate(entry, name)) return read_aggregate(entry, name);
    repeated_.insert(name);
    const Case asked = imported_benchmark("google-benchmark", name);
    if (entry.has("error_occurred") && entry.at("error_occurred").is_true())
      return cases_.fail(asked, fmt::format("{}: {}", name, message_of(entry, "error_message")),
                         static_cast<int>(ExitCode::wrong_data));
    if (entry.is_set("skipped")) {
      output_.left_out.push_back(fmt::format("{}: skipped: {}", name, message_of(entry, "skip_message")));
      return;
    }
    add_time(name, entry);
  }

  /// \throws Error (usage) where there is no case.
  void finish(const JsonValue& benchmarks) {
    for (const auto& [name, median] : aggregates_) {
      if (repeated_.contains(name)) continue;
      if (median)
        add_time(name, *median);
      else
        output_.left_out.push_back(name + ": it has only aggregates, and no median");
    }
    if (cases_.empty() && repeated_.empty())
      benchmarks.fail(aggregates_.empty() ? "has no benchmark" : "has only aggregates",
                      aggregates_.empty() ? "run without --benchmark_list_tests, and with a filter that some match"
                                          : "run without --benchmark_report_aggregates_only");
    if (cases_.empty()) benchmarks.fail("has none that was timed: " + output_.left_out.front());
    output_.cases = cases_.take();
  }

 private:
  /// Keeps a median. Old versions have the aggregate in the name.
  void read_aggregate(const JsonValue& entry, const std::string& name) {
    const bool old = !entry.has("run_type");
    std::optional<JsonValue>& median = aggregates_[old ? name.substr(0, name.rfind('_')) : name];
    if (old ? name.ends_with("_median") : message_of(entry, "aggregate_name") == "median") median = entry;
  }

  void add_time(const std::string& name, const JsonValue& entry) {
    const std::string name_of_unit = entry.has("time_unit") ? entry.at("time_unit").text() : "ns";
    const std::optional<MeasuredUnit> unit = measured_unit(name_of_unit);
    if (!unit || unit->is_rate) entry.at("time_unit").fail("is no unit of time", "s, ms, us or ns");
    const JsonValue time = entry.at("real_time");
    if (time.is_null() || (time.is_number() && time.number() == 0))
      output_.left_out.push_back(fmt::format("{}: its time is {}", name, time.is_null() ? "no number" : "0"));
    else
      cases_.add(imported_benchmark("google-benchmark", name), metric::kBenchmarkSeconds,
                 std::array{time.positive() * unit->factor}, "s");
  }

  ImportedOutput& output_;
  ImportedCases cases_;
  std::set<std::string> repeated_;                              ///< benchmarks of which there is more than aggregates
  std::map<std::string, std::optional<JsonValue>> aggregates_;  ///< of each benchmark the median, where there is one
};

ImportedOutput parse_google_benchmark(std::string_view text, std::string_view file_name, const ImportHints& /*hints*/) {
  const nlohmann::json json = parse_json(text, file_name);
  const JsonValue root(json, file_name);
  ImportedOutput output;
  read_context(root.at("context"), output);
  GoogleBenchmarkReader reader(output);
  const JsonValue benchmarks = root.at("benchmarks");
  for (const JsonValue& entry : benchmarks.elements()) reader.read(entry);
  reader.finish(benchmarks);
  return output;
}

}  // namespace

extern constinit const ImportFormat kGoogleBenchmarkFormat{
    .name = "google-benchmark",
    .summary = "Google Benchmark's JSON: the real time of each repetition",
    .example = "./my_benchmark --benchmark_format=json > 1.json",
    .recognises = is_google_benchmark,
    .parse = parse_google_benchmark};

}  // namespace hbench
