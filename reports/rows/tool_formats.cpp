#include "reports/rows/tool_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/points/tracked_metric.hpp"
#include "collectives/base/text.hpp"
#include "reports/rows/row.hpp"

namespace hbench {
namespace {

void add_to_bencher(const ToolFigure& figure, Json& all) {
  const auto [least, largest] = std::ranges::minmax(figure.launches);
  const std::string measure = figure.unit == "ns" ? "latency" : figure.unit == "ops/s" ? "throughput" : figure.unit;
  all[figure.name][measure] = {{"value", median(figure.launches)}, {"lower_value", least}, {"upper_value", largest}};
}

void add_to_list(const ToolFigure& figure, Json& all) {
  const auto [least, largest] = std::ranges::minmax(figure.launches);
  const std::string range =
      fmt::format("{:.4g} to {:.4g} in {}", least, largest, counted(std::ssize(figure.launches), "launch"));
  all.push_back({{"name", figure.name}, {"unit", figure.unit}, {"value", median(figure.launches)}, {"range", range}});
}

void add_repetitions(const ToolFigure& figure, Json& all) {
  for (std::size_t i = 0; i < figure.launches.size(); ++i) {
    Json entry{{"name", figure.name}, {"run_type", "iteration"}, {"repetition_index", i}, {"iterations", 1}};
    for (const char* time : {"real_time", "cpu_time"}) entry[time] = figure.launches[i];
    entry["time_unit"] = figure.unit;
    all["benchmarks"].push_back(std::move(entry));
  }
}

Json no_names() { return Json::object(); }
Json no_list() { return Json::array(); }
Json no_benchmarks() { return {{"context", {{"executable", "hbench"}}}, {"benchmarks", Json::array()}}; }

constexpr std::array kToolFormats{
    ToolFormat{"bencher", no_names, [](const ToolFigure&) { return true; }, add_to_bencher},
    ToolFormat{"customSmallerIsBetter", no_list, [](const ToolFigure& each) { return each.larger_is_worse; },
               add_to_list},
    ToolFormat{"customBiggerIsBetter", no_list, [](const ToolFigure& each) { return !each.larger_is_worse; },
               add_to_list},
    ToolFormat{"google-benchmark", no_benchmarks, [](const ToolFigure& each) { return each.unit == "s"; },
               add_repetitions}};

}  // namespace

std::vector<ToolFigure> tool_figures(const std::vector<CaseResult>& results) {
  std::vector<ToolFigure> figures;
  std::vector<const Case*> cases;
  for (const CaseResult& result : results) {
    Launch launches = result.status == CaseStatus::done && result.asked.is_timed() ? launch_values(result) : Launch();
    if (launches.empty()) continue;
    const TrackedMetric metric = tracked_metric(result);
    figures.push_back({"", metric.unit, metric.larger_is_worse, std::move(launches)});
    cases.push_back(&result.asked);
  }
  const std::vector<std::string> names = tracked_names(cases);
  for (std::size_t i = 0; i < figures.size(); ++i) figures[i].name = names[i];
  return figures;
}

std::span<const ToolFormat> tool_formats() { return kToolFormats; }

const ToolFormat* tool_format(std::string_view name) {
  const auto* found = std::ranges::find(kToolFormats, name, &ToolFormat::name);
  return found == kToolFormats.end() ? nullptr : found;
}

std::string tool_text(const ToolFormat& format, std::vector<ToolFigure> figures) {
  Json all = format.none();
  for (ToolFigure& each : figures) {
    if (!format.takes(each)) continue;
    if (each.unit == "s")
      for (double& value : each.launches) value *= 1e9;
    if (each.unit == "s") each.unit = "ns";
    format.add(each, all);
  }
  return json_text(Form::values, "", std::move(all));
}

}  // namespace hbench
