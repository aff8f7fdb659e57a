#include "bench/output/reporting.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/launch/process.hpp"
#include "bench/output/output_file.hpp"
#include "bench/output/titles.hpp"
#include "collectives/base/error.hpp"
#include "reports/write_report.hpp"

namespace hbench {
namespace {

std::string percent(const std::optional<double>& value) { return value ? fmt::format("{:.1f} %", 100 * *value) : "-"; }

std::string with_interval(const Point& point) {
  if (!point.efficiency) return "-";
  if (!point.efficiency_low || !point.efficiency_high) return percent(point.efficiency);
  return fmt::format("{:.1f} % [{:.1f}, {:.1f}]", 100 * *point.efficiency, 100 * *point.efficiency_low,
                     100 * *point.efficiency_high);
}

bool usable(const Point& point, Evidence evidence) { return point.asked.evidence == evidence && !point.failed; }

/// One row per workload and network at the largest simulated count, one column per strategy seen there.
Table simulated_table(const std::vector<Point>& points) {
  int most = 0;
  for (const Point& point : points)
    if (usable(point, Evidence::simulated)) most = std::max(most, point.asked.gpus);
  std::vector<std::string> strategies;
  std::map<std::string, std::size_t> uses;
  std::vector<std::pair<std::string, std::string>> rows;
  std::map<std::tuple<std::string, std::string, std::string>, std::string> cells;
  for (const Point& point : points) {
    if (!usable(point, Evidence::simulated) || point.asked.gpus != most) continue;
    const std::string label = point.asked.strategy.label();
    const auto row = std::pair(point.asked.workload, point.asked.profile);
    if (std::ranges::find(strategies, label) == strategies.end()) strategies.push_back(label);
    if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
    ++uses[label];
    cells[{row.first, row.second, label}] = percent(point.efficiency);
  }
  // Twins of published points use strategies of their own; the table shows what every network has.
  std::erase_if(strategies, [&](const std::string& label) { return uses[label] * 2 < rows.size(); });
  Table table;
  table.caption = fmt::format("Simulated scaling efficiency on {} GPUs (of one GPU without communication)", most);
  table.columns = {"workload", "network"};
  table.columns.insert(table.columns.end(), strategies.begin(), strategies.end());
  table.numeric.assign(table.columns.size(), true);
  table.numeric[0] = table.numeric[1] = false;
  std::ranges::stable_sort(rows, {}, [](const auto& row) { return row.first; });
  for (const auto& [workload, profile] : rows) {
    std::vector<std::string> row{workload, profile};
    for (const std::string& label : strategies) {
      const auto cell = cells.find({workload, profile, label});
      row.push_back(cell == cells.end() ? "-" : cell->second);
    }
    table.rows.push_back(row);
  }
  return table;
}

std::string on_what(const TrainingTask& task) {
  const std::string label = task.label();
  return (task.on_gpu() ? "GPU" : "CPU core") + (label.empty() ? "" : ": " + label);
}

std::string place_of(const Point& point) {
  return point.emulation.empty() ? on_what(point.asked.training) : "replay of a GPU of the cluster";
}

/// What was timed here: measured, or emulated on slowed links. What ranks were is a column where it differs; a
/// rank of an emulated cluster replays one of its GPUs.
Table timed_table(const std::vector<Point>& points, Evidence evidence) {
  std::set<std::string> places, networks;
  for (const Point& point : points) {
    if (!usable(point, evidence)) continue;
    places.insert(place_of(point));
    networks.insert(point.asked.profile);
  }
  const bool same = places.size() == 1;
  Table table;
  table.caption = fmt::format("{} (a rank is {})",
                              evidence == Evidence::measured
                                  ? std::string("Measured on this machine")
                                  : fmt::format("Emulated on this machine: {}", fmt::join(networks, "; ")),
                              same ? "one " + *places.begin() : std::string("what `on` says"));
  table.columns = {"workload",  "ranks",    "nodes x ranks",     "strategy", "on",
                   "samples/s", "per rank", "efficiency [95 %]", "baseline"};
  table.numeric = {false, true, false, false, false, true, true, true, false};
  for (const Point& point : points) {
    if (!usable(point, evidence)) continue;
    table.rows.push_back({point.asked.workload, std::to_string(point.asked.workers()), point.asked.nodes_label(),
                          point.asked.strategy.label(), place_of(point), fmt::format("{:.1f}", point.throughput),
                          fmt::format("{:.1f}", point.throughput_per_gpu), with_interval(point),
                          point.baseline_or_reason()});
  }
  if (same) erase_column(table, "on");
  erase_if_empty(table, "nodes x ranks");
  return table;
}

/// What an emulation of real processes says of the simulation of the same.
Table emulated_pairs_table(const std::vector<EmulatedPair>& pairs) {
  Table table;
  if (pairs.empty()) return table;
  const ComparisonSummary summary = summarize_emulated(pairs);
  table.caption = fmt::format("Simulated against emulated throughput: {:.1f} % apart on average, {:.1f} % at most",
                              100 * summary.mean, 100 * summary.maximum);
  table.columns = {"workload",      "GPUs",     "network",   "strategy", "published",
                   "measured here", "emulated", "simulated", "apart"};
  table.numeric = {false, true, false, false, true, true, true, true, true};
  for (const EmulatedPair& pair : pairs)
    table.rows.push_back({pair.emulated.asked.workload, std::to_string(pair.emulated.asked.gpus),
                          pair.emulated.asked.profile, pair.emulated.asked.strategy.label(),
                          pair.published ? percent(pair.published->efficiency) : "",
                          pair.measured ? percent(pair.measured->efficiency) : "", percent(pair.emulated.efficiency),
                          percent(pair.simulated.efficiency), fmt::format("{:+.1f} %", 100 * pair.difference)});
  for (const char* column : {"published", "measured here"}) erase_if_empty(table, column);
  return table;
}

Table failed_table(const std::vector<Point>& points) {
  Table table;
  table.caption = "Failed";
  table.columns = {"evidence", "workload", "GPUs", "strategy", "reason"};
  table.numeric = {false, false, true, false, false};
  for (const Point& point : points)
    if (point.failed)
      table.rows.push_back({std::string(to_string(point.asked.evidence)), point.asked.workload,
                            std::to_string(point.asked.gpus), point.asked.strategy.label(), point.failure});
  return table;
}

}  // namespace

ReportInput report_input(const std::vector<CaseResult>& results, const std::vector<CaseResult>& baselines,
                         const std::vector<Run>& runs, const Data& data, const PointFilter& filter) {
  ReportInput input;
  input.points = select_points(make_points(results, baselines), filter);
  input.comparisons = compare_with_published(input.points);
  input.predictions = compare_with_measured(input.points);
  input.emulations = compare_with_emulated(input.points);
  input.runs = runs;
  describe(input, data);
  describe(input, runs);
  return input;
}

Document summary(const std::vector<Point>& points, const Document& report) {
  Document document;
  for (const Block& block : report.blocks)
    if (std::holds_alternative<Verdict>(block) || std::holds_alternative<Warnings>(block))
      document.blocks.push_back(block);
  for (const Table& table :
       {simulated_table(points), timed_table(points, Evidence::measured), timed_table(points, Evidence::emulated),
        emulated_pairs_table(compare_with_emulated(points)), failed_table(points)})
    if (!table.rows.empty()) document.blocks.push_back(table);
  return document;
}

void write_report_folder(const Document& document, const std::filesystem::path& folder) {
  const std::string warning =
      write_report(document, folder, [](const std::vector<std::string>& argv, const std::string& input) {
        return run_process(
                   {.argv = argv, .environment = {}, .on_line = {}, .input = input, .output_timeout = Seconds(120)})
            .code;
      });
  if (!warning.empty()) fmt::print(stderr, "hbench: {}\n", warning);
}

void check_report_folder(const std::filesystem::path& folder) {
  check_report_files(folder);
  const FolderTrial trial = try_folder(folder);
  std::error_code ignored;
  if (trial.made) std::filesystem::remove(folder, ignored);  // nothing is left behind when the work fails
  if (!trial.why_not.empty())
    throw Error(ExitCode::environment,
                fmt::format("cannot write the report into {}: {}", folder.string(), trial.why_not),
                "choose a folder that can be written with --report DIR");
}

}  // namespace hbench
