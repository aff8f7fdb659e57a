#include <algorithm>
#include <map>
#include <utility>

#include "analysis/points/points.hpp"
#include "analysis/published/published.hpp"

namespace hbench {
namespace {

/// Sources name the program, seldom the parameters of its policy. The number of servers is left out: sources count
/// processes, a plan counts machines.
bool same_strategy(const Strategy& a, const Strategy& b) {
  return a.algorithm == b.algorithm && a.placement == b.placement && a.server_mode == b.server_mode &&
         a.compressor == b.compressor && policy_of(a.fusion) == policy_of(b.fusion) && a.overlap == b.overlap &&
         a.preset == b.preset && a.method == b.method;
}

bool same_place(const Case& a, const Case& b) {
  return a.workload == b.workload && a.gpus == b.gpus && a.profile == b.profile && same_batch(a, b) &&
         same_strategy(a.strategy, b.strategy);
}

bool predictable(const Case& measured) {
  return measured.is_of_machine() && measured.gpus > 1 && measured.processes_per_gpu <= 1 &&
         measured.strategy.communicates() && !measured.strategy.dedicated() &&
         (measured.image_size > 0 || !measured.model_digest.empty());
}

/// Whether simulated ranks are on as many nodes as measured ones, where these are on several.
bool same_spread(const Case& simulated, const Case& measured) {
  return measured.nodes_label().empty() || simulated.nodes == measured.nodes;
}

/// What is measured says nothing of plain SGD; a prediction that says nothing is of whatever was recorded.
bool same_optimizer(const TrainingTask& a, const TrainingTask& b) {
  const auto name = [](const TrainingTask& task) { return task.optimizer.empty() ? "sgd" : task.optimizer; };
  return name(a) == name(b);
}

bool same_work(const Case& a, const Case& b) {
  return a.workload == b.workload && a.image_size == b.image_size && a.model_digest == b.model_digest &&
         a.gpus == b.gpus && same_batch(a, b) && a.training.device == b.training.device &&
         a.training.precision == b.training.precision && a.training.recompute == b.training.recompute &&
         same_optimizer(a.training, b.training) && same_strategy(a.strategy, b.strategy);
}

bool comparable(const Point& point) { return !point.failed && point.efficiency.has_value(); }

/// Returns it with the efficiency that it has at the simulated rate of one GPU, where its source states none.
Point beside(const Point& simulated, Point published) {
  if (published.efficiency || !(published.throughput > 0) || !(simulated.throughput > 0)) return published;
  published.efficiency = *simulated.efficiency * published.throughput / simulated.throughput;
  published.baseline = "one GPU as simulated: its source states none";
  return published;
}

/// The points that are known in one way, in their order, by workload and GPUs, in which all pairs agree.
class KnownPoints {
 public:
  KnownPoints(const std::vector<Point>& points, bool (*known)(Evidence)) {
    for (const Point& point : points)
      if (known(point.asked.evidence) && !point.failed)
        points_[{point.asked.workload, point.asked.gpus}].push_back(&point);
  }

  const std::vector<const Point*>& like(const Case& asked) const {
    static const std::vector<const Point*> kNone;
    const auto found = points_.find({asked.workload, asked.gpus});
    return found == points_.end() ? kNone : found->second;
  }

  /// The first of these with an efficiency that `matches(Case)`; null where there is none.
  template <class Matches>
  const Point* first(const Case& asked, Matches matches) const {
    const auto& all = like(asked);
    const auto found =
        std::ranges::find_if(all, [&](const Point* point) { return point->efficiency && matches(point->asked); });
    return found == all.end() ? nullptr : *found;
  }

 private:
  std::map<std::pair<std::string, int>, std::vector<const Point*>> points_;
};

}  // namespace

std::vector<Comparison> compare_with_published(const std::vector<Point>& points) {
  const KnownPoints published(points, is_of_others);
  std::vector<Comparison> comparisons;
  for (const Point& simulated : points) {
    if (!comparable(simulated) || !simulated.asked.is_predicted()) continue;
    for (const Point* known : published.like(simulated.asked)) {
      const Point figure = beside(simulated, *known);
      if (same_place(simulated.asked, figure.asked) && figure.efficiency)
        comparisons.push_back({simulated, figure, *simulated.efficiency - *figure.efficiency, chosen_with(figure.asked),
                               !known->efficiency});
    }
  }
  return comparisons;
}

std::vector<Prediction> compare_with_measured(const std::vector<Point>& points) {
  const KnownPoints simulated(points, is_predicted);
  std::vector<Prediction> predictions;
  for (const Point& measured : points) {
    if (!comparable(measured) || !predictable(measured.asked)) continue;
    const Point* same = simulated.first(measured.asked, [&](const Case& other) {
      return same_work(other, measured.asked) && same_spread(other, measured.asked);
    });
    if (same != nullptr) predictions.push_back({*same, measured, *same->efficiency - *measured.efficiency});
  }
  return predictions;
}

std::vector<EmulatedPair> compare_with_emulated(const std::vector<Point>& points) {
  const KnownPoints simulated(points, is_predicted), published(points, is_of_others), measured(points, is_of_machine);
  const auto copy_of = [](const Point* point) { return point == nullptr ? std::nullopt : std::optional(*point); };
  std::vector<EmulatedPair> pairs;
  for (const Point& emulated : points) {
    const Case& asked = emulated.asked;
    if (!comparable(emulated) || !asked.is_timed() || asked.is_of_machine() || emulated.throughput <= 0) continue;
    const Point* same = simulated.first(asked, [&](const Case& other) {
      return other.profile == asked.profile && other.question() == asked.question();
    });
    if (same == nullptr) continue;
    // What a framework costs its hosts is not emulated: the published figure is of all of it.
    const Point* as_published = published.first(asked, [&](Case other) {
      other.strategy.preset = asked.strategy.preset;
      return same_place(other, asked);
    });
    const Point* as_measured = measured.first(asked, [&](const Case& other) {
      return same_batch(other, asked) && same_strategy(other.strategy, asked.strategy);
    });
    pairs.push_back({.simulated = *same,
                     .emulated = emulated,
                     .published = copy_of(as_published),
                     .measured = copy_of(as_measured),
                     .difference = same->throughput / emulated.throughput - 1});
  }
  return pairs;
}

}  // namespace hbench
