#pragma once

/// The parts of the report on scaling, one file each. Pure functions of the input; a part of which the input
/// holds nothing is empty.

#include <string>
#include <vector>

#include "reports/report.hpp"
#include "reports/scaling/headline.hpp"
#include "reports/scaling/words.hpp"

namespace hbench {

using Blocks = std::vector<Block>;

/// What every part is given: computed once. `input` outlives it.
struct Scaling {
  explicit Scaling(const ReportInput& of) : input(of), words(of), headline(find_headline(of.points)) {}

  const ReportInput& input;
  ScalingWords words;
  std::optional<Headline> headline;
};

/// How far simulated figures of one algorithm are from published ones.
struct AlgorithmError {
  std::string algorithm;
  ComparisonSummary error;
};
/// Of the figures with which something of the model was chosen, or of the others; the algorithm with the most first.
std::vector<AlgorithmError> errors_by_algorithm(const std::vector<Comparison>& comparisons, bool chosen);

/// The answer, and how it is known.
Blocks scaling_verdict(const Scaling& scaling);
/// How the figures of the headline are known, in a sentence or two; empty without a headline.
std::string how_it_is_known(const Scaling& scaling);
/// What makes points doubtful: each sentence with the points that it is said of, after what failed or was throttled.
Blocks warnings(const Scaling& scaling);
Blocks failed_cases(const Scaling& scaling);
std::size_t failures_of(const Scaling& scaling);
/// `2 of 9 cases failed; ...`; empty where none did, or all.
std::string failures_sentence(const Scaling& scaling);
/// `ring 1.5 (1.3-1.8)`, `ring? 1.5 (0.9-2.4)` where it is likely, or `level (0.93-1.16)`, of the quicker over the
/// other, where the two ways have these names; `-` where one is missing.
std::string who_is_ahead(const Match& match, const std::string& first, const std::string& second);
/// All-reduce against parameter servers on the most GPUs, each by its best configuration.
Blocks best_of_either_side(const Scaling& scaling);
/// Efficiency and throughput, a chart per workload; the workload of the headline comes first.
Blocks scaling_charts(const Scaling& scaling);
/// Timed efficiency over nodes, of GPU counts that ran on several numbers of them; a chart per workload.
Blocks node_charts(const Scaling& scaling);
/// Simulated against published figures.
Blocks published_comparison(const Scaling& scaling);
/// Simulated nodes like this machine against what was measured on it.
Blocks measured_comparison(const Scaling& scaling);
/// ` On 3 points measured here, ...`: for the verdict; empty where nothing was predicted.
std::string predicted_sentence(const Scaling& scaling);
/// Simulated steps against the same on emulated links, and how these were emulated.
Blocks emulated_comparison(const Scaling& scaling);
/// Where the time of simulated steps goes, on the most GPUs of each workload.
Blocks step_ledger(const Scaling& scaling);
/// Efficiency, memory, bytes and staleness of training methods on the most GPUs; where points have several.
Blocks method_costs(const Scaling& scaling);
Blocks measured_points(const Scaling& scaling);
/// Collectives and benchmarks that were timed, with their time or rate.
Blocks timed_alone(const Scaling& scaling);
/// What was measured while a GPU was held back, or was at its power cap.
Blocks throttled_points(const Scaling& scaling);
/// `2 points were measured while a GPU was throttled; ...`; empty where none was.
std::string throttled_sentence(const Scaling& scaling);
Blocks all_points(const Scaling& scaling);
/// What ranks do in an iteration, as pictures: where not all points are of synchronous training.
Blocks training_methods(const Scaling& scaling);
/// What ran where, and what the words mean.
Blocks method(const Scaling& scaling);

}  // namespace hbench
