#pragma once

/// Points: what reports and exports show, computed from stored results. Pure functions.

#include <optional>
#include <string>
#include <vector>

#include "analysis/records.hpp"

namespace hbench {

/// One point of a scaling curve. Times in seconds, rates in samples/s.
struct Point {
  Case asked;
  bool failed = false;
  std::string failure;
  double step_seconds = 0;  ///< median over iterations of the slowest rank's step, over launches
  double throughput = 0;    ///< global
  double throughput_per_gpu = 0;
  /// `throughput / (gpus * baseline throughput)`; none without a baseline.
  std::optional<double> efficiency, efficiency_low, efficiency_high;
  std::string baseline;     ///< in words, with its figure: `one process without communication, 61.2 samples/s`
  std::string interval;     ///< what low and high mean: `95 % bootstrap over 3 launches`, `profile uncertainty`
  std::size_t samples = 0;  ///< raw observations behind it
};

/// All points, in the order of `results`. A measured case's baseline is the measured case of the same
/// workload, batch and image size with algorithm `none`; simulated and published ones carry their own.
std::vector<Point> make_points(const std::vector<CaseResult>& results);

/// How far a simulated point is from a published one of the same workload, GPUs, strategy and profile.
struct Comparison {
  Point simulated;
  Point published;
  double difference = 0;  ///< simulated - published efficiency, in points of 1
};
std::vector<Comparison> compare_with_published(const std::vector<Point>& points);

}  // namespace hbench
