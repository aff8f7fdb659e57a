#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reports/scaling/series.hpp"

namespace hbench {
namespace {

/// Points that differ in their nodes only.
using Spread = std::vector<const Point*>;

/// The key without the number of nodes: where it holds is the same as well, of one machine.
std::string key_without_nodes(Case asked) {
  asked.nodes = 0;
  return asked.key();
}

/// Of one subject, those of two numbers of nodes and more, by rising nodes.
std::vector<Spread> spreads_of(const std::vector<Point>& points, const Subject& subject) {
  std::vector<Spread> spreads;
  std::map<std::string, std::size_t> places;
  for (const Point& point : points) {
    if (!point.asked.is_timed() || point.failed || !point.efficiency || !is_about(point.asked, subject)) continue;
    const auto [place, added] = places.try_emplace(key_without_nodes(point.asked), spreads.size());
    if (added) spreads.emplace_back();
    spreads[place->second].push_back(&point);
  }
  std::erase_if(spreads, [](const Spread& spread) { return spread.size() < 2; });
  for (Spread& spread : spreads) std::ranges::sort(spread, {}, [](const Point* point) { return point->asked.nodes; });
  return spreads;
}

Series series_of(const Spread& spread, const ScalingWords& words) {
  const Case& asked = spread.front()->asked;
  Series series{.label = fmt::format("{}, {}", words.strategy(asked), words.gpus(asked)),
                .mark = mark_of(asked.evidence),
                .group = asked.strategy.label(),
                .family = words.network_id(asked)};
  for (const Point* point : spread)
    series.points.push_back({static_cast<double>(point->asked.nodes), *point->efficiency, point->efficiency_low,
                             point->efficiency_high, point->baseline});
  return series;
}

Chart chart_of(const Scaling& scaling, const std::vector<Spread>& spreads) {
  const Case& asked = spreads.front().front()->asked;
  Chart chart{.id = chart_id("nodes", asked),
              .title = scaling.words.workload(asked),
              .x_title = "Nodes",
              .y_title = "Scaling efficiency",
              .x_log2 = true,
              .y_percent = true,
              .y_min = 0,
              .caption =
                  "The same ranks on more nodes, equally many on each, in blocks of consecutive ranks. Whiskers: "
                  "95 % intervals for a repeat."};
  for (const Spread& spread : spreads) chart.series.push_back(series_of(spread, scaling.words));
  return chart;
}

/// One quantity over GPUs.
struct Quantity {
  const char* id;
  const char* group;
  const char* y_title;
  bool efficiency;
};

constexpr Quantity kEfficiency{"efficiency", "Scaling efficiency", "Scaling efficiency", true};
constexpr Quantity kThroughput{"throughput", "Throughput", "Samples/s, all GPUs", false};

bool has(const std::vector<Series>& all, Mark mark) {
  return std::ranges::any_of(all, [&](const Series& series) { return series.mark == mark; });
}

std::string caption_of(const std::vector<Series>& all, const Quantity& quantity) {
  std::string text = quantity.efficiency
                         ? "Throughput on N GPUs over N times that of one GPU without communication."
                         : "Networks come with different GPUs: compare how straight the lines are, not their heights.";
  if (has(all, Mark::simulated))
    text += " Lines with small dots are simulated; the band of one at a time: where 9 of 10 real figures lie.";
  if (has(all, Mark::measured) || has(all, Mark::emulated))
    text += " Large dots are timed; whiskers: 95 % intervals for a repeat.";
  if (has(all, Mark::published)) text += " Marks without a line are published by others.";
  return text;
}

/// How the work of a step grows with the GPUs.
std::string kind_of_scaling(const std::vector<Curve>& curves) {
  const int first = curves.front().asked().global_batch;
  if (std::ranges::any_of(curves, [&](const Curve& curve) { return curve.asked().global_batch != first; }))
    return "Weak scaling, each GPU keeps its batch, but where a curve names a global batch. ";
  if (first == 0) return "Weak scaling: each GPU keeps its batch. ";
  return fmt::format("Strong scaling: {} samples a step at every GPU count. ", first);
}

std::optional<double> times(std::optional<double> value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

std::string note_of(const Point& point) {
  std::string note = point.interval;
  for (const std::string* text : {&point.baseline, &point.asked.source})
    if (!text->empty() && !(text == &point.asked.source && point.asked.is_predicted()))
      note += (note.empty() ? "" : "; ") + *text;
  return note;
}

void add_efficiency(Series& series, const Point& point) {
  if (!point.efficiency) return;
  series.points.push_back({static_cast<double>(point.asked.gpus), *point.efficiency, point.efficiency_low,
                           point.efficiency_high, note_of(point)});
}

void add_throughput(Series& series, const Point& point) {
  if (!(point.throughput > 0)) return;
  const double ideal = point.efficiency && *point.efficiency > 0 ? point.throughput / *point.efficiency : 0;
  series.points.push_back({static_cast<double>(point.asked.gpus), point.throughput,
                           ideal > 0 ? times(point.efficiency_low, ideal / point.rate_factor) : std::nullopt,
                           ideal > 0 ? times(point.efficiency_high, ideal * point.rate_factor) : std::nullopt,
                           note_of(point)});
}

std::vector<Series> series_of(const std::vector<Curve>& curves, const Quantity& quantity) {
  std::vector<Series> all;
  for (const Curve& curve : curves) {
    Series series = curve.series;
    for (const Point* point : curve.points) (quantity.efficiency ? add_efficiency : add_throughput)(series, *point);
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  return all;
}

/// 100 % from the fewest to the most GPUs.
Series ideal_line(const std::vector<Series>& all) {
  double first = all.front().points.front().x, last = first;
  for (const Series& series : all) {
    first = std::min(first, series.points.front().x);
    last = std::max(last, series.points.back().x);
  }
  return {.label = "ideal", .mark = Mark::ideal, .points = {{first, 1, {}, {}, ""}, {last, 1, {}, {}, ""}}};
}

/// Efficiencies beyond 100 % happen where the baseline was unlucky: they are shown, not cut.
double efficiency_limit(const std::vector<Series>& all) {
  double highest = 1;
  for (const Series& series : all)
    for (const ChartPoint& point : series.points) highest = std::max({highest, point.y, point.high.value_or(0)});
  return std::isfinite(highest) ? std::max(1.1, std::ceil(highest * 10) / 10) : 1.1;
}

bool on_several_networks(const std::vector<Series>& all) {
  return std::ranges::any_of(all, [&](const Series& series) { return series.family != all.front().family; });
}

bool is_local(const std::vector<Curve>& curves) {
  return std::ranges::all_of(curves, [](const Curve& curve) { return curve.asked().is_local(); });
}

std::optional<Chart> chart_of(const Scaling& scaling, const std::vector<Curve>& curves, const Quantity& quantity) {
  std::vector<Series> series = series_of(curves, quantity);
  if (series.empty()) return std::nullopt;
  const Case& asked = curves.front().asked();
  Chart chart{.id = chart_id(quantity.id, asked),
              .title = scaling.words.workload(asked),
              .x_title = is_local(curves) ? "Ranks" : "GPUs",
              .y_title = quantity.y_title,
              .x_log2 = quantity.efficiency,
              .y_percent = quantity.efficiency,
              .y_min = 0,
              .panels = on_several_networks(series),
              .series = std::move(series)};
  chart.caption = kind_of_scaling(curves) + caption_of(chart.series, quantity);
  if (quantity.efficiency) {
    chart.y_max = efficiency_limit(chart.series);
    chart.series.insert(chart.series.begin(), ideal_line(chart.series));
  }
  return chart;
}

}  // namespace

Blocks node_charts(const Scaling& scaling) {
  ChartGroup group{"Over nodes", {}};
  for (const Subject& subject : subjects_by_spread(scaling.input.points))
    if (const auto spreads = spreads_of(scaling.input.points, subject); !spreads.empty())
      group.charts.push_back(chart_of(scaling, spreads));
  if (group.charts.empty()) return {};
  return {std::move(group)};
}

Blocks scaling_charts(const Scaling& scaling) {
  ChartGroup efficiency{kEfficiency.group, {}}, throughput{kThroughput.group, {}};
  for (const Subject& subject : subjects_by_spread(scaling.input.points)) {
    std::vector<Curve> curves = curves_of(scaling, subject);
    choose_shown(curves, scaling);
    if (auto chart = chart_of(scaling, curves, kEfficiency)) efficiency.charts.push_back(std::move(*chart));
    if (auto chart = chart_of(scaling, curves, kThroughput)) throughput.charts.push_back(std::move(*chart));
  }
  Blocks blocks;
  for (ChartGroup* group : {&efficiency, &throughput})
    if (!group->charts.empty()) blocks.push_back(std::move(*group));
  return blocks;
}

}  // namespace hbench
