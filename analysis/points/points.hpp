#pragma once

/// Points: what reports and exports show, computed from stored results. Pure functions.

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "analysis/points/point.hpp"

namespace hbench {

/// All points, in the order of `results`; benchmarks of other programs are none. The baseline of a timed case is chosen
/// from `baselines` as `analysis/points/timed_steps.hpp` says; simulated and published points carry their own. What a
/// source prints is kept as printed; a throughput of 0 is one that it does not state. A measured case that holds the
/// steps of the baseline launches beside its own is compared with these instead. One launch of one timed iteration,
/// here or in the baseline, gives no interval. \throws Error (wrong_data) for figures that no run stores.
std::vector<Point> make_points(const std::vector<CaseResult>& results, const std::vector<CaseResult>& baselines);
/// The same with baselines from the results themselves.
std::vector<Point> make_points(const std::vector<CaseResult>& results);

/// How far a simulated point is from a published one of the same workload, GPUs, strategy and profile.
struct Comparison {
  Point simulated;
  Point published;
  double difference = 0;  ///< simulated - published efficiency, in points of 1
  std::string chosen{};   ///< with this figure known (`chosen_with`); empty: nothing
  /// The source states no rate of one GPU: the published efficiency is that at the simulated one.
  bool at_simulated_rate = false;
};
/// Every such pair, in the order of the simulated points. Fusion policies are the same when their names are
/// (sources seldom state parameters); the number of servers is not compared. Where a source states a throughput and no
/// rate of one GPU, its efficiency is that at the simulated rate. Simulated points without an efficiency are left out.
std::vector<Comparison> compare_with_published(const std::vector<Point>& points);

/// A prediction for nodes like this machine beside what was measured on it.
struct Prediction {
  Point simulated;
  Point measured;
  double difference = 0;  ///< simulated - measured efficiency, in points of 1
};
/// For each measured point with communication, in their order, the first simulated one of the same workload, image
/// size, GPUs, batch, device, precision and strategy: only a timeline recorded here has an image size. Ranks that were
/// measured on several nodes are compared with as many simulated ones. None of these
/// points calibrates a prediction; the process without communication does, and is left out. So is one rank, which
/// exchanges nothing, and so are dedicated servers: simulated ones have nodes of their own, measured ones share the
/// machine.
std::vector<Prediction> compare_with_measured(const std::vector<Point>& points);

/// A simulated step beside the same on emulated links, with the same timeline.
struct EmulatedPair {
  Point simulated;
  Point emulated;
  /// What was published of the same workload, GPUs, strategy and profile, by whatever framework; the first of several.
  std::optional<Point> published;
  /// What was measured on this machine of the same workload, GPUs, batch and strategy; the first where there are
  /// several.
  std::optional<Point> measured;
  double difference = 0;  ///< simulated throughput / emulated throughput - 1
};
/// For each emulated point of a cluster profile the simulated one of the same question, in the order of the emulated
/// ones. Points on which a fault was planted are pairs too.
std::vector<EmulatedPair> compare_with_emulated(const std::vector<Point>& points);

/// How far the pairs are apart: absolute differences, in points of 1; all 0 when there are none.
struct ComparisonSummary {
  std::size_t count = 0;
  double mean = 0;
  double maximum = 0;
};
/// Sizes of the differences of `Comparison`, `Prediction` or `EmulatedPair`.
template <class Pair>
ComparisonSummary summarize(const std::vector<Pair>& pairs) {
  ComparisonSummary summary{.count = pairs.size()};
  for (const Pair& pair : pairs) {
    const double size = std::fabs(pair.difference);
    summary.mean += size;
    summary.maximum = std::max(summary.maximum, size);
  }
  if (!pairs.empty()) summary.mean /= static_cast<double>(pairs.size());
  return summary;
}

}  // namespace hbench
