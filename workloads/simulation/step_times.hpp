#pragma once

/// Where the time of a simulated step goes.
///
/// A step of a model that is divided among ranks: passes through a pipeline of stages, tensor groups that exchange what
/// lies between layers, and replicas that add up gradients.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/base/span.hpp"
#include "collectives/base/units.hpp"
#include "collectives/network/profile.hpp"
#include "collectives/network/simulation_plan.hpp"
#include "workloads/simulation/pipeline.hpp"
#include "workloads/step/strategy.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {

/// How many gradients a server has applied between an answer to a rank and the rank's next gradient, which was computed
/// without them; of all pieces of the model alike.
struct Staleness {
  double mean = 0;
  int p95 = 0, largest = 0;
  /// \param counts how often each number has come; not empty
  static Staleness of(const std::map<int, std::int64_t>& counts);
  /// By the names under which results have them.
  std::array<std::pair<std::string_view, double>, 3> parts() const {
    return {{{"mean", mean}, {"p95", p95}, {"largest", largest}}};
  }
};

/// One simulated step and where its time went. The parts add up to `step`.
struct StepTimes {
  Seconds step;
  Seconds compute;        ///< both passes of one undisturbed GPU
  Seconds straggler;      ///< the slowest of all ranks needs longer
  Seconds slowdown;       ///< compute disturbed by communication in flight
  Seconds exposed;        ///< communication that nothing hid
  Seconds update;         ///< the optimizer's; 0 where it is in `compute`
  Seconds alone;          ///< a step of one undisturbed GPU that exchanges nothing (not a part of the sum)
  Seconds communication;  ///< time with a collective in flight, hidden or not (not a part of the sum)
  int buckets = 0;
  std::optional<Staleness> staleness;  ///< where servers apply gradients as they come
  /// Bytes that all ranks, and servers, send in a step, by the number of workers. None where a schedule is a library's
  /// own, or a model is divided.
  std::optional<Moved> sent = Moved();
  Seconds idle;  ///< a part of `exposed`: a stage of a pipeline waits for others
};

/// Adds a step to a mean of which it makes `share`.
void add_share(StepTimes& mean, const StepTimes& step, double share);

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
