#pragma once

/// A step of a model that is divided among ranks: passes through a pipeline of stages, tensor groups that exchange what
/// lies between layers, and replicas that add up gradients.

#include <functional>
#include <vector>

#include "collectives/base/span.hpp"
#include "collectives/network/profile.hpp"
#include "workloads/simulation/pipeline.hpp"
#include "workloads/simulation/step_times.hpp"
#include "workloads/step/strategy.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {

/// What a divided step is made of.
struct DividedStep {
  /// One micro-batch on one undisturbed GPU that has the whole model. \pre it has `blocks`
  const StepTimeline& timeline;
  const TrainingStrategy& strategy;
  int workers = 1;
  double late = 1;   ///< the time of the slowest rank's passes, by that of the timeline
  Seconds per_step;  ///< of the host, which nothing hides
  /// Returns the time of a collective within groups of ranks at once, of a buffer of `bytes`.
  std::function<Seconds(CollectiveKind kind, const RankGroups& groups, double bytes)> collective;
  /// Returns the time in which each rank sends `bytes` to the rank that is `distance` further.
  std::function<Seconds(int distance, double bytes)> shift;
};

/// Times are the busiest stage's: compute, what the slowest rank adds, and the update; all else is `exposed`, of which
/// `idle` is the wait for other stages. Blocks and the output layer take their share of the passes, divided evenly
/// among the ranks of a tensor group. Each block has an all-gather and a reduce-scatter for its attention and for its
/// feed-forward layers in each pass, which nothing hides, and again where the backward pass repeats the forward pass.
/// Gradients are added up between replicas when a stage has made the last of them, or, with overlap, block by block
/// beside the last backward pass of each chunk and all that follow it (Megatron-LM's overlap_grad_reduce). Not
/// modelled: the sum of gradients of words that the first stage shares with the last one. `spans`, which may be null,
/// gets rank 0's.
StepTimes simulate(const DividedStep& step, std::vector<Span>* spans);

}  // namespace hbench
