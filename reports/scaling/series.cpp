#include "reports/scaling/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace hbench {
namespace {

/// What points of one curve share: all but their GPUs, as text. The words of a strategy leave out what does not matter.
std::string place_and_strategy(const Case& asked, const ScalingWords& words) {
  const TrainingTask& task = asked.training;
  return fmt::format("{}\n{}\n{}\n{}\n{} {} {} {} {}\n{}", to_string(asked.evidence), asked.profile, asked.machine,
                     batch_in_words(asked), task.device, task.executor, task.precision, task.recompute, task.optimizer,
                     words.strategy(asked));
}

/// Curves of one subject, found by what their points share.
class CurveMaker {
 public:
  CurveMaker(const Scaling& scaling, const Subject& subject) {
    for (const Point& point : scaling.input.points)
      if (is_about(point.asked, subject) && !point.failed)
        entries_.push_back({&point, place_and_strategy(point.asked, scaling.words)});
    for (const auto& [point, shared] : entries_) {
      const auto [fewest, added] = fewest_nodes_.try_emplace({shared, point->asked.gpus}, point->asked.nodes);
      fewest->second = std::min(fewest->second, point->asked.nodes);
    }
  }

  std::vector<Curve> curves() const {
    std::vector<Curve> curves;
    std::map<std::pair<std::string, int>, std::size_t> places;
    for (const auto& [point, shared] : entries_) {
      if (!point->asked.strategy.communicates()) continue;
      const int nodes = extra_nodes(*point, shared);
      const auto [place, added] = places.try_emplace({shared, nodes}, curves.size());
      if (added) curves.push_back({.points = {}, .nodes = nodes});
      curves[place->second].points.push_back(point);
    }
    return curves;
  }

 private:
  struct Entry {
    const Point* point;
    std::string shared;
  };

  /// The nodes of a timed point where the same ranks ran on fewer as well; else 0.
  int extra_nodes(const Point& point, const std::string& shared) const {
    const bool fewer = fewest_nodes_.at({shared, point.asked.gpus}) < point.asked.nodes;
    return fewer && !point.asked.nodes_label().empty() ? point.asked.nodes : 0;
  }

  std::vector<Entry> entries_;
  std::map<std::pair<std::string, int>, int> fewest_nodes_;  ///< by what is shared and GPUs
};

/// A strategy whatever its framework and fusion policy: published figures belong beside the first that is simulated.
std::string plain_label(Strategy strategy) {
  strategy.fusion.clear();
  strategy.preset.clear();
  strategy.overlap = true;
  return strategy.label();
}

Series series_of(const Case& asked, const ScalingWords& words) {
  Series series{.label = fmt::format("{} on {}", words.strategy(asked), words.place(asked)),
                .mark = mark_of(asked.evidence),
                .group = asked.is_of_others() ? plain_label(asked.strategy) : asked.strategy.label(),
                .family = words.network_id(asked)};
  if (!asked.is_predicted()) series.label += fmt::format(" ({})", to_string(asked.evidence));
  return series;
}

/// Says the batch of curves that are called alike, and of those that have another one than most.
void label_batches(std::vector<Curve>& curves) {
  std::map<std::string, int> uses, batches;
  for (const Curve& curve : curves) {
    ++uses[curve.series.label];
    ++batches[batch_in_words(curve.asked())];
  }
  const auto most = std::ranges::max_element(batches, {}, [](const auto& each) { return each.second; });
  for (Curve& curve : curves)
    if (const std::string batch = batch_in_words(curve.asked()); uses[curve.series.label] > 1 || batch != most->first)
      curve.series.label += ", " + batch;
}

/// Gives published curves the colour of the first simulated one like them.
void group_published(std::vector<Curve>& curves) {
  for (Curve& published : curves) {
    if (published.series.mark != Mark::published) continue;
    const auto simulated = std::ranges::find_if(curves, [&](const Curve& curve) {
      return curve.series.mark == Mark::simulated && plain_label(curve.asked().strategy) == published.series.group;
    });
    if (simulated != curves.end()) published.series.group = simulated->series.group;
  }
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

std::string chart_id(std::string_view quantity, const Case& asked) {
  return fmt::format("{}-{}{}", quantity, asked.workload,
                     asked.image_size > 0 ? fmt::format("-{}", asked.image_size) : "");
}

std::vector<Curve> curves_of(const Scaling& scaling, const Subject& subject) {
  std::vector<Curve> curves = CurveMaker(scaling, subject).curves();
  for (Curve& curve : curves) {
    std::ranges::stable_sort(curve.points, {}, [](const Point* point) { return point->asked.gpus; });
    curve.series = series_of(curve.asked(), scaling.words);
    if (curve.nodes > 0) curve.series.label += fmt::format(", {} nodes", curve.nodes);
  }
  group_published(curves);
  label_batches(curves);
  tell_machines_apart(curves);
  return curves;
}

}  // namespace hbench
