#include <algorithm>
#include <cmath>

#include "analysis/points.hpp"
#include "analysis/published.hpp"

namespace hbench {
namespace {

/// Sources name the program, seldom the parameters of its policy. The number of servers is left out: sources count
/// processes, a plan counts machines.
bool same_strategy(const Strategy& a, const Strategy& b) {
  return a.algorithm == b.algorithm && a.placement == b.placement && a.server_mode == b.server_mode &&
         a.compressor == b.compressor && policy_of(a.fusion) == policy_of(b.fusion) && a.overlap == b.overlap &&
         a.preset == b.preset;
}

bool same_place(const Case& a, const Case& b) {
  return a.workload == b.workload && a.gpus == b.gpus && a.profile == b.profile && a.batch_per_gpu == b.batch_per_gpu &&
         same_strategy(a.strategy, b.strategy);
}

bool predictable(const Case& measured) {
  return measured.gpus > 1 && measured.processes_per_gpu <= 1 && measured.strategy.communicates() &&
         !measured.strategy.dedicated() && measured.image_size > 0;
}

/// Whether simulated ranks are on as many nodes as measured ones, where these are on several.
bool same_spread(const Case& simulated, const Case& measured) {
  return measured.nodes_label().empty() || simulated.nodes == measured.nodes;
}

bool same_work(const Case& a, const Case& b) {
  return a.workload == b.workload && a.image_size == b.image_size && a.gpus == b.gpus &&
         a.batch_per_gpu == b.batch_per_gpu && a.training.device == b.training.device &&
         a.training.precision == b.training.precision && same_strategy(a.strategy, b.strategy);
}

bool comparable(const Point& point, Evidence evidence) {
  return point.asked.evidence == evidence && !point.failed && point.efficiency.has_value();
}

template <class Pair>
ComparisonSummary summary_of(const std::vector<Pair>& pairs) {
  ComparisonSummary summary;
  for (const Pair& pair : pairs) {
    const double size = std::fabs(pair.difference);
    summary.mean += size;
    summary.maximum = std::max(summary.maximum, size);
    ++summary.count;
  }
  if (summary.count > 0) summary.mean /= static_cast<double>(summary.count);
  return summary;
}

}  // namespace

std::vector<Comparison> compare_with_published(const std::vector<Point>& points) {
  std::vector<Comparison> comparisons;
  for (const Point& simulated : points) {
    if (!comparable(simulated, Evidence::simulated)) continue;
    for (const Point& published : points)
      if (comparable(published, Evidence::published) && same_place(simulated.asked, published.asked))
        comparisons.push_back(
            {simulated, published, *simulated.efficiency - *published.efficiency, calibrated_with(published.asked)});
  }
  return comparisons;
}

std::vector<Prediction> compare_with_measured(const std::vector<Point>& points) {
  std::vector<Prediction> predictions;
  for (const Point& measured : points) {
    if (!comparable(measured, Evidence::measured) || !predictable(measured.asked)) continue;
    const auto simulated = std::ranges::find_if(points, [&](const Point& point) {
      return comparable(point, Evidence::simulated) && same_work(point.asked, measured.asked) &&
             same_spread(point.asked, measured.asked);
    });
    if (simulated != points.end())
      predictions.push_back({*simulated, measured, *simulated->efficiency - *measured.efficiency});
  }
  return predictions;
}

std::vector<EmulatedPair> compare_with_emulated(const std::vector<Point>& points) {
  const auto first = [&](Evidence evidence, auto matches) -> std::optional<Point> {
    const auto found = std::ranges::find_if(
        points, [&](const Point& point) { return comparable(point, evidence) && matches(point.asked); });
    return found == points.end() ? std::nullopt : std::optional(*found);
  };
  std::vector<EmulatedPair> pairs;
  for (const Point& emulated : points) {
    if (!comparable(emulated, Evidence::emulated) || emulated.throughput <= 0) continue;
    const Case& asked = emulated.asked;
    const auto simulated = first(Evidence::simulated, [&](const Case& other) {
      return other.profile == asked.profile && other.question() == asked.question();
    });
    if (!simulated) continue;
    pairs.push_back({.simulated = *simulated,
                     .emulated = emulated,
                     .published = first(Evidence::published,
                                        [&](Case other) {
                                          // What a framework costs its hosts is not emulated: the figure is of all of
                                          // it.
                                          other.strategy.preset = asked.strategy.preset;
                                          return same_place(other, asked);
                                        }),
                     .measured = first(Evidence::measured,
                                       [&](const Case& other) {
                                         return other.workload == asked.workload && other.gpus == asked.gpus &&
                                                other.batch_per_gpu == asked.batch_per_gpu &&
                                                same_strategy(other.strategy, asked.strategy);
                                       }),
                     .difference = simulated->throughput / emulated.throughput - 1});
  }
  return pairs;
}

ComparisonSummary summarize_emulated(const std::vector<EmulatedPair>& pairs) { return summary_of(pairs); }
ComparisonSummary summarize(const std::vector<Comparison>& comparisons) { return summary_of(comparisons); }
ComparisonSummary summarize_predictions(const std::vector<Prediction>& predictions) { return summary_of(predictions); }

}  // namespace hbench
