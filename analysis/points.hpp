#pragma once

/// Points: what reports and exports show, computed from stored results. Pure functions.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/records.hpp"
#include "analysis/throttling.hpp"

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
  std::size_t launches = 0, iterations = 0;  ///< timed ones, of all launches; measured and emulated points only
  ThrottledShare throttled;                  ///< of these, or of a collective's iterations in place
  /// Where a simulated step's time goes, in seconds: `compute`, `straggler`, `slowdown`, `exposed`. The samples
  /// `ledger/...` of the result, without that prefix.
  std::map<std::string, double> ledger;
};

/// All points, in the order of `results`. The baseline of a measured (or emulated) case is the newest measured
/// (emulated) case of the same profile, workload, batch and image size with algorithm `none`; simulated and
/// published ones carry their own. What a source prints is kept as printed; a throughput of 0 is one that it
/// does not state. With fewer than two timed iterations, here or in the baseline, there is no interval.
std::vector<Point> make_points(const std::vector<CaseResult>& results);

/// How far a simulated point is from a published one of the same workload, GPUs, strategy and profile.
struct Comparison {
  Point simulated;
  Point published;
  double difference = 0;    ///< simulated - published efficiency, in points of 1
  bool calibrated = false;  ///< the model has used this figure (`calibrated_with`)
};
/// Every such pair, in the order of the simulated points. Fusion policies are the same when their names are
/// (sources seldom state parameters); the number of servers is not compared. Points without an efficiency
/// are left out.
std::vector<Comparison> compare_with_published(const std::vector<Point>& points);

/// A prediction for nodes like this machine beside what was measured on it.
struct Prediction {
  Point simulated;
  Point measured;
  double difference = 0;  ///< simulated - measured efficiency, in points of 1
};
/// For each measured point with communication, in their order, the first simulated one of the same workload, image
/// size, GPUs, batch, device, precision and strategy: only a timeline recorded here has an image size. None of these
/// points calibrates a prediction; the process without communication does, and is left out. So is one rank, which
/// exchanges nothing, and so are dedicated servers: simulated ones have nodes of their own, measured ones share the
/// machine.
std::vector<Prediction> compare_with_measured(const std::vector<Point>& points);

/// How far the pairs are apart: absolute differences, in points of 1; all 0 when there are none.
struct ComparisonSummary {
  std::size_t count = 0;
  double mean = 0;
  double maximum = 0;
};
ComparisonSummary summarize(const std::vector<Comparison>& comparisons);
ComparisonSummary summarize_predictions(const std::vector<Prediction>& predictions);

}  // namespace hbench
