#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <set>

#include "analysis/import/format.hpp"
#include "analysis/import/json_value.hpp"
#include "analysis/import/words.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "collectives/base/error.hpp"

/// nvbench's `--json` (github.com/NVIDIA/nvbench, nvbench/json_printer.cu): a state is a benchmark with a value of each
/// axis on one device; its summaries are known by their tags. Numbers of summaries and axes are texts.

namespace hbench {
namespace {

/// By preference: cold runs on the GPU, batches of them, benchmarks of the CPU alone.
constexpr std::array<std::string_view, 4> kNvbenchTimes{"nv/cold/time/gpu/mean", "nv/batch/time/gpu/mean",
                                                        "nv/cpu_only/time/cpu/mean", "nv/cold/time/cpu/mean"};

bool is_nvbench(std::string_view text) {
  return text.find("\"benchmarks\"") != text.npos && text.find("\"nvbench\"") != text.npos &&
         text.find("\"states\"") != text.npos;
}

std::string text_of(const JsonValue& value) {
  return value.is_number() ? fmt::format("{}", value.number()) : value.text();
}

/// A number above 0, or one in a text.
double positive_of(const JsonValue& value) {
  if (!value.is_text()) return value.positive();
  const auto number = finite_number(value.text());
  if (!number || *number <= 0) value.fail("is not above 0");
  return *number;
}

/// The value of one of the summaries of `kNvbenchTimes`, in seconds.
std::optional<double> time_of_state(const JsonValue& state) {
  std::map<std::string, double> known;
  if (!state.is_set("summaries")) return std::nullopt;
  for (const JsonValue& summary : state.at("summaries").elements()) {
    const std::string tag = summary.at("tag").text();
    if (std::ranges::find(kNvbenchTimes, tag) == kNvbenchTimes.end()) continue;
    for (const JsonValue& datum : summary.at("data").elements())
      if (datum.at("name").text() == "value") known[tag] = positive_of(datum.at("value"));
  }
  for (const std::string_view tag : kNvbenchTimes)
    if (const auto found = known.find(std::string(tag)); found != known.end()) return found->second;
  return std::nullopt;
}

class NvbenchReader {
 public:
  explicit NvbenchReader(const JsonValue& root) {
    for (const JsonValue& device : root.at("devices").elements())
      models_[device.at("id").whole(0)] = device.at("name").text();
  }

  void read(const JsonValue& benchmark) {
    const std::string name = benchmark.at("name").text();
    if (name.empty()) benchmark.fail("has no name");
    if (benchmark.at("states").is_null()) return;
    for (const JsonValue& state : benchmark.at("states").elements()) read_state(name, state);
  }

  ImportedOutput finish(const JsonValue& benchmarks) {
    if (cases_.empty()) benchmarks.fail("has no state that was timed", "is one run, and not skipped?");
    if (const std::string models = fmt::format("{}", fmt::join(used_, ", ")); !models.empty())
      output_.environment["gpu"] = models;
    output_.cases = cases_.take();
    return std::move(output_);
  }

 private:
  void read_state(const std::string& benchmark, const JsonValue& state) {
    std::string name = benchmark;
    if (state.is_set("axis_values"))
      for (const JsonValue& axis : state.at("axis_values").elements())
        name += fmt::format(" {}={}", axis.at("name").text(), text_of(axis.at("value")));
    if (state.has("is_skipped") && state.at("is_skipped").is_true()) {
      const std::string why = state.has("skip_reason") ? state.at("skip_reason").text() : "";
      output_.left_out.push_back(fmt::format("{}: skipped: {}", name, why));
      return;
    }
    const std::optional<double> seconds = time_of_state(state);
    if (!seconds) {
      output_.left_out.push_back(fmt::format("{}: it was not timed", name));
      return;
    }
    Case asked = imported_benchmark("nvbench", name);
    if (state.is_set("device")) {
      const int device = state.at("device").whole(0);
      asked.training.device = kGpuDevice;
      // GPUs of one machine may differ in their links and clocks.
      if (models_.size() > 1) asked.benchmark += fmt::format(" Device={}", device);
      if (const auto model = models_.find(device); model != models_.end()) used_.insert(model->second);
    }
    cases_.add(asked, metric::kBenchmarkSeconds, std::array{*seconds}, "s");
  }

  std::map<int, std::string> models_;  ///< by the numbers of devices
  std::set<std::string> used_;
  ImportedCases cases_;
  ImportedOutput output_;
};

ImportedOutput parse_nvbench(std::string_view text, std::string_view file_name, const ImportHints& /*hints*/) {
  const nlohmann::json json = parse_json(text, file_name);
  const JsonValue root(json, file_name), benchmarks = root.at("benchmarks");
  NvbenchReader reader(root);
  for (const JsonValue& benchmark : benchmarks.elements()) reader.read(benchmark);
  ImportedOutput output = reader.finish(benchmarks);
  if (root.has("meta") && root.at("meta").is_set("argv")) {
    const auto arguments = root.at("meta").at("argv").elements();
    if (!arguments.empty()) {
      const std::string path = arguments.front().text();
      output.program = path.substr(path.find_last_of("/\\") + 1);
    }
  }
  return output;
}

}  // namespace

extern constinit const ImportFormat kNvbenchFormat{.name = "nvbench",
                                                   .summary = "nvbench's JSON: the mean GPU time of each state",
                                                   .example = "./my_bench --json 1.json",
                                                   .recognises = is_nvbench,
                                                   .parse = parse_nvbench};

}  // namespace hbench
