#pragma once

/// What reports and exports show of one result: a record alone.
///
/// What makes a measured point doubtful. Pure.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/points/unknowns.hpp"
#include "analysis/records/machine_facts.hpp"
#include "analysis/records/records.hpp"

namespace hbench {

/// Seconds of a simulated step with the stated figures of its cluster, and with those at their better and worse ends;
/// and what it does not share with another step on the same cluster.
struct StepEnds {
  double stated = 0, better = 0, worse = 0;
  double exposed = 1;    ///< share of the step beyond what one GPU alone takes
  bool servers = false;  ///< parameter servers add up
  double coding = 0;     ///< how far the compressor's implementation may make it longer, on logarithms
};

/// Returns `StepEnds::exposed`.
double share_exposed(double step, double one_gpu_alone);

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
  std::optional<UnknownKind> widest;         ///< of a simulated one: what makes most of its band
  std::optional<Narrowed> narrowed;          ///< of a simulated one: its efficiency then (`SimulatedStep::narrowed`)
  StepEnds ends;                             ///< of a simulated point, for `lead_of`
  double rate_factor = 1;                    ///< of one GPU's speed, where its rate is known at another batch only
  std::vector<TimedLaunch> timed;            ///< of a timed one, for the same
  std::string emulation;     ///< of a point on an emulated cluster: how (`analysis/records/emulation.hpp`)
  ThrottledShare throttled;  ///< of these, or of a collective's iterations in place
  /// Where the time of a typical step goes, in seconds by part: `compute`, `straggler`, `slowdown`, `exposed` ...
  /// (`analysis/trace/ledger.hpp`). Of a measured point the medians over its traced steps and launches, which add up to
  /// a step nearly; empty where none was traced. A part that is not known is left out.
  std::map<std::string, double> ledger;
  /// What a predicted step keeps on one GPU, in bytes by part: `weights`, `gradients`, `optimizer`, `activations`. A
  /// part that is not known is left out.
  std::map<std::string, double> memory;
  /// Gradients of other ranks that servers have applied and a rank's own was computed without: `mean`, `p95`,
  /// `largest`. Empty where servers do not apply gradients as they come.
  std::map<std::string, double> staleness;
  /// Of a measured step after which ranks averaged their parameters with some others: as `metric::kConsensusDistance`.
  std::optional<double> consensus_distance;
  /// Bytes that all send in a step of a prediction, for each GPU: `within` nodes and `between` them. Empty where nobody
  /// knows.
  std::map<std::string, double> sent;
  /// As `metric::kByLibrary`; 0 where nobody asked.
  double by_library = 0;
  /// The share of a predicted step for which the busiest stage of a pipeline waits for others (its bubble).
  std::optional<double> idle_share;
  /// What makes this figure doubtful, a sentence each: a busy machine, launches that differ by more than the interval.
  /// Empty where nothing is known against it.
  std::vector<std::string> warnings;

  /// Bytes of all parts of `memory`, where activations are among them.
  std::optional<double> whole_memory() const;
  /// For people: what it is relative to, or why that is not known.
  const std::string& baseline_or_reason() const { return baseline.empty() ? no_baseline : baseline; }
};

/// A sentence without its full stop for each thing that speaks against `point`, which was made of `result`: an
/// efficiency above 100 % by more than its interval, launches of which the first and the last differ, a machine that
/// was busy with other things, a throttled GPU, slow launches and steps, launches that were lost.
std::vector<std::string> warnings_of(const Point& point, const CaseResult& result);

}  // namespace hbench
