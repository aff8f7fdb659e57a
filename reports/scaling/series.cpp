#include "reports/scaling/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace hbench {
namespace {

bool on_one_curve(const Case& a, const Case& b, const ScalingWords& words) {
  return a.evidence == b.evidence && a.profile == b.profile && a.machine == b.machine &&
         a.batch_per_gpu == b.batch_per_gpu && a.training == b.training && words.strategy(a) == words.strategy(b);
}

/// The nodes of a timed point where the same ranks ran on fewer as well; else 0.
int extra_nodes(const Point& point, const Scaling& scaling) {
  if (point.asked.nodes_label().empty()) return 0;
  const bool fewer = std::ranges::any_of(scaling.input.points, [&](const Point& other) {
    return !other.failed && other.asked.gpus == point.asked.gpus && other.asked.nodes < point.asked.nodes &&
           subject_of(other.asked) == subject_of(point.asked) && on_one_curve(other.asked, point.asked, scaling.words);
  });
  return fewer ? point.asked.nodes : 0;
}

void add(std::vector<Curve>& curves, const Point& point, const Scaling& scaling) {
  const int nodes = extra_nodes(point, scaling);
  auto curve = std::ranges::find_if(curves, [&](const Curve& candidate) {
    return candidate.nodes == nodes && on_one_curve(candidate.asked(), point.asked, scaling.words);
  });
  if (curve == curves.end()) curve = curves.insert(curves.end(), Curve{.points = {}, .nodes = nodes, .series = {}});
  curve->points.push_back(&point);
}

std::set<std::string> published_labels(const std::vector<Point>& points) {
  std::set<std::string> labels;
  for (const Point& point : points)
    if (point.asked.evidence == Evidence::published) labels.insert(point.asked.strategy.label());
  return labels;
}

std::string plain_label(Strategy strategy) {
  strategy.fusion.clear();
  strategy.overlap = true;
  return strategy.label();
}

Series series_of(const Case& asked, const ScalingWords& words, const std::set<std::string>& published) {
  const std::string label = asked.strategy.label();
  Series series{.label = fmt::format("{} on {}", words.strategy(asked), words.place(asked)),
                .mark = mark_of(asked.evidence),
                .group = published.contains(label) ? plain_label(asked.strategy) : label,
                .family = words.network_id(asked)};
  if (asked.evidence != Evidence::simulated) series.label += fmt::format(" ({})", to_string(asked.evidence));
  return series;
}

void label_batches(std::vector<Curve>& curves) {
  std::map<std::string, int> uses;
  for (const Curve& curve : curves) ++uses[curve.series.label];
  for (Curve& curve : curves)
    if (uses[curve.series.label] > 1) curve.series.label += fmt::format(", batch {}", curve.asked().batch_per_gpu);
}

/// One name for several machines: the digests differ.
void tell_machines_apart(std::vector<Curve>& curves) {
  std::map<std::string, std::set<std::string>> machines;
  for (const Curve& curve : curves) machines[curve.series.label].insert(curve.asked().machine);
  constexpr std::size_t kDigits = 6;
  for (Curve& curve : curves)
    if (machines[curve.series.label].size() > 1)
      curve.series.label += fmt::format(", machine {}", curve.asked().machine.substr(0, kDigits));
}

}  // namespace

Mark mark_of(Evidence evidence) {
  switch (evidence) {
    case Evidence::measured:
      return Mark::measured;
    case Evidence::emulated:
      return Mark::emulated;
    case Evidence::simulated:
      return Mark::simulated;
    case Evidence::published:
      break;
  }
  return Mark::published;
}

std::string chart_id(std::string_view quantity, const Case& asked) {
  return fmt::format("{}-{}{}", quantity, asked.workload,
                     asked.image_size > 0 ? fmt::format("-{}", asked.image_size) : "");
}

std::vector<Curve> curves_of(const Scaling& scaling, const Subject& subject) {
  std::vector<Curve> curves;
  for (const Point& point : scaling.input.points)
    if (subject_of(point.asked) == subject && !point.failed && point.asked.strategy.communicates())
      add(curves, point, scaling);
  const std::set<std::string> published = published_labels(scaling.input.points);
  for (Curve& curve : curves) {
    std::ranges::stable_sort(curve.points, {}, [](const Point* point) { return point->asked.gpus; });
    curve.series = series_of(curve.asked(), scaling.words, published);
    if (curve.nodes > 0) curve.series.label += fmt::format(", {} nodes", curve.nodes);
  }
  label_batches(curves);
  tell_machines_apart(curves);
  return curves;
}

}  // namespace hbench
