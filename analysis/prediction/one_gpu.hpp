#pragma once

/// The step of one GPU of a cluster alone: what every prediction starts from.

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/data.hpp"

namespace hbench {

/// The speed of one GPU at its batch, and of which batch that is known.
struct OneGpu {
  /// Within micro-batches, all activations kept: a step of several has one update and may be a little faster, and one
  /// that computes some again is slower.
  double samples_per_second = 0;
  double factor = 1;  ///< it may be higher or lower by this factor
  int known_at = 0;   ///< the batch of which the rate is taken, where no rate is known at the case's; else 0
};

/// The speed of a GPU of the case's cluster in a micro-batch of the case. What is given for the case, or was recorded
/// on the machine, is as it is. Under strong scaling and with several micro-batches the batch may be another than that
/// of the rate: between two batches whose rates are known, steps are taken to grow evenly; beyond them the passes but
/// for `kLeastOfTensor` are taken to grow with the batch, and `factor` has what a larger fixed part could make of that.
/// `catalog` holds what the case names.
OneGpu one_gpu(const PlannedCase& planned, const Catalog& catalog);

/// The case's step on one GPU that is `faster` times as fast.
StepTimeline timeline_of(const PlannedCase& planned, const Catalog& catalog, double faster = 1);

/// Whether all GPUs of a node can make `node_rate` samples/s together that would make `ideal` if nothing held them
/// back.
inline bool can_be_node_rate(double node_rate, double ideal) {
  return node_rate < 1.2 * ideal && node_rate > 0.1 * ideal;
}

/// Adds to a prediction's samples what its speed rests on, where no rate is known at the case's batch.
void add_other_batch(CaseResult& result, const OneGpu& one);

/// The largest part of a step at the batch of a measured rate that did not grow with the batch: 60 % of BERT-large's at
/// 8 samples, 41 % of GPT-2's at 4, 31 % of ResNet-50's at 64, and less at larger batches (lines through two batches
/// each in bfloat16, bench/gpu/2026-11-26-NVIDIA-H200-rates.csv; on an H100 57, 18 and 19 %).
inline constexpr double kMostFixedPart = 0.6;

/// The part of a step that does not grow with the batch, for each tensor of the model. MLPerf's submissions of
/// ResNet-50 and BERT, whose kernels are fused, have 20 to 35 us (`hbench validate mlperf`), PyTorch as it is 50 to
/// 90 (by the lines above).
inline constexpr Seconds kLeastOfTensor(30e-6);

/// By how much a rate can be another at `batch` than at `known`, if up to `kMostFixedPart` of the step is fixed.
double other_batch_factor(int known, int batch);

}  // namespace hbench
