#include <fmt/format.h>

#include <algorithm>
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
    if (!is_timed(point) || point.failed || !point.efficiency || !is_about(point.asked, subject)) continue;
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

}  // namespace

Blocks node_charts(const Scaling& scaling) {
  ChartGroup group{"Over nodes", {}};
  for (const Subject& subject : subjects_by_spread(scaling.input.points))
    if (const auto spreads = spreads_of(scaling.input.points, subject); !spreads.empty())
      group.charts.push_back(chart_of(scaling, spreads));
  if (group.charts.empty()) return {};
  return {std::move(group)};
}

}  // namespace hbench
