#include "reports/choose/choice_charts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hbench {
namespace {

/// The most clusters of a chart: more lines cannot be distinguished.
constexpr std::size_t kMostClusters = 6;
/// More bands on top of each other show nothing.
constexpr std::size_t kMostBands = 3;

/// Of one cluster, by its GPU counts.
std::vector<const Alternative*> line_of(const Choice& choice, const std::string& cluster) {
  std::vector<const Alternative*> line;
  for (const Alternative& each : choice.alternatives)
    if (each.point.asked.profile == cluster) line.push_back(&each);
  std::ranges::sort(line, {}, [](const Alternative* each) { return each->point.asked.gpus; });
  return line;
}

std::string note_of(const Alternative& alternative) {
  return fmt::format("{} GPUs, {}", alternative.point.asked.gpus, alternative.point.asked.strategy.label());
}

Series efficiency_of(const std::vector<const Alternative*>& line, bool bands) {
  Series series{.label = line.front()->point.asked.profile};
  for (const Alternative* each : line) {
    ChartPoint point{.x = static_cast<double>(each->point.asked.gpus), .y = each->efficiency.stated};
    if (bands) {
      point.low = each->efficiency.low;
      point.high = each->efficiency.high;
    }
    point.note = note_of(*each);
    series.points.push_back(std::move(point));
  }
  return series;
}

/// A point for each number of GPUs, which is its label.
Series cost_of(const std::vector<const Alternative*>& line) {
  Series series{.label = line.front()->point.asked.profile};
  for (const Alternative* each : line)
    if (each->hours && each->cost)
      series.points.push_back({.x = each->hours->stated,
                               .y = each->cost->stated,
                               .note = note_of(*each),
                               .label = std::to_string(each->point.asked.gpus)});
  return series;
}

Chart efficiency_chart(const Goals& goals) {
  Chart chart{.id = "efficiency",
              .title = "Efficiency of the first clusters",
              .x_title = "GPUs",
              .y_title = "efficiency",
              .x_log2 = true,
              .y_percent = true,
              .y_min = 0,
              .y_max = 1,
              .end_labels = true};
  if (goals.efficiency > 0)
    chart.lines.push_back({.label = fmt::format("at least {:.4g} %", 100 * goals.efficiency), .at = goals.efficiency});
  return chart;
}

Chart cost_chart(const Goals& goals) {
  Chart chart{.id = "cost",
              .title = "Time and cost of the first clusters",
              .x_title = "hours",
              .y_title = goals.currency,
              .x_log2 = true,
              .y_log10 = true,
              .end_labels = true,
              .caption = "A point for each number of GPUs. The bands are in the tables."};
  if (goals.hours > 0)
    chart.lines.push_back(
        {.label = fmt::format("deadline: {:.3g} h", goals.hours), .at = goals.hours, .vertical = true});
  if (goals.budget > 0)
    chart.lines.push_back(
        {.label = fmt::format("budget: {:.6g} {}", goals.budget, goals.currency), .at = goals.budget});
  return chart;
}

}  // namespace

std::vector<Chart> choice_charts(const Choice& choice, const std::vector<Alternative>& best) {
  Chart efficiency = efficiency_chart(choice.goals), cost = cost_chart(choice.goals);
  const std::size_t shown = std::min(best.size(), kMostClusters);
  const bool bands = shown <= kMostBands;
  efficiency.caption = bands ? "Shaded: the 90 % band of one line at a time." : "The 90 % bands are in the table.";
  bool several = false;
  for (const Alternative& each : best) {
    if (efficiency.series.size() == shown) break;
    const std::vector<const Alternative*> line = line_of(choice, each.point.asked.profile);
    several = several || line.size() > 1;
    efficiency.series.push_back(efficiency_of(line, bands));
    if (Series costs = cost_of(line); !costs.points.empty()) cost.series.push_back(std::move(costs));
  }
  std::vector<Chart> charts;
  if (!several) return charts;
  if (!cost.series.empty()) charts.push_back(std::move(cost));
  charts.push_back(std::move(efficiency));
  return charts;
}

}  // namespace hbench
