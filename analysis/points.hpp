#pragma once

/// Points: what reports and exports show, computed from stored results. Pure functions.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/lead.hpp"
#include "analysis/records.hpp"
#include "analysis/throttling.hpp"

namespace hbench {

/// The median step of a launch, and of the launch of its baseline that took turns with it; 0 where there is none.
struct TimedLaunch {
  double step = 0, baseline = 0;
};

/// One point of a scaling curve. Times in seconds, rates in samples/s.
struct Point {
  Case asked;
  Producer producer;             ///< of the result
  std::string machine_in_words;  ///< of a timed point
  bool failed = false;
  std::string failure;
  double step_seconds = 0;  ///< the job's (`timed_steps.hpp`): median over iterations, then over launches
  double throughput = 0;    ///< global
  double throughput_per_gpu = 0;
  /// `throughput / (gpus * baseline throughput)`; none without a baseline. Of a measured point whose baseline took
  /// turns with it this is taken launch by launch, so it may differ a little from the ratio of the two medians.
  std::optional<double> efficiency, efficiency_low, efficiency_high;
  std::string baseline;     ///< in words, with its figure: `one process without communication, 61.2 samples/s`
  std::string no_baseline;  ///< why a timed point has none, in one sentence; empty where it has one
  /// What low and high mean: `95 % interval for a repeat, 5 paired launches`, `90 % band: ...`.
  std::string interval;
  std::size_t samples = 0;                   ///< raw observations behind it
  std::size_t launches = 0, iterations = 0;  ///< timed ones, of all launches; measured and emulated points only
  StepEnds ends;                             ///< of a simulated point, for `lead_of`
  std::vector<TimedLaunch> timed;            ///< of a timed one, for the same
  std::string emulation;                     ///< of a point on an emulated cluster: how (`analysis/emulation.hpp`)
  ThrottledShare throttled;                  ///< of these, or of a collective's iterations in place
  /// Where the time of a typical step goes, in seconds by part: `compute`, `straggler`, `slowdown`, `exposed` ...
  /// (`analysis/trace/ledger.hpp`). Of a measured point the medians over its traced steps and launches, which add up to
  /// a step nearly; empty where none was traced. A part that is not known is left out.
  std::map<std::string, double> ledger;
  /// What makes this figure doubtful, a sentence each: a busy machine, launches that differ by more than the interval.
  /// Empty where nothing is known against it.
  std::vector<std::string> warnings;

  /// For people: what it is relative to, or why that is not known.
  const std::string& baseline_or_reason() const { return baseline.empty() ? no_baseline : baseline; }
};

/// All points, in the order of `results`; benchmarks of other programs are none. The baseline of a timed case is chosen
/// from `baselines` as `analysis/baseline.hpp` says; simulated and published points carry their own. What a source
/// prints is kept as printed; a throughput of 0 is one that it does not state. A measured case that holds the steps of
/// the baseline launches beside its own is compared with these instead. One launch of one timed iteration, here or in
/// the baseline, gives no interval. \throws Error (wrong_data) for figures that no run stores.
std::vector<Point> make_points(const std::vector<CaseResult>& results, const std::vector<CaseResult>& baselines);
/// The same with baselines from the results themselves.
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
ComparisonSummary summarize(const std::vector<Comparison>& comparisons);
ComparisonSummary summarize_predictions(const std::vector<Prediction>& predictions);
ComparisonSummary summarize_emulated(const std::vector<EmulatedPair>& pairs);

}  // namespace hbench
