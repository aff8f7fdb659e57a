#pragma once

/// One rank's side of the negotiation: the ranks agree on which buckets leave, in one order for all. As in Horovod,
/// rank 0 coordinates. Workers announce to it what they have computed, and it orders every rank, dedicated servers
/// included, to exchange the buckets that its fusion policies make. Where ranks do not meet in collectives there is
/// nothing to agree on: each walks the plan for itself.

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/transport/transport.hpp"
#include "workloads/engine/coordinator.hpp"
#include "workloads/engine/memories.hpp"
#include "workloads/engine/messages.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// The factor by which other ranks wait longer than rank 0, which finds out first who is late and reports it, before
/// they judge.
inline constexpr double kMorePatience = 2;

/// Used by one thread at a time, step after step.
class Negotiator {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Negotiator() = default;
  /// An iteration of the job begins, in which something is exchanged.
  virtual void begin_step(Clock::time_point at, int iteration) = 0;
  /// This worker's tensors for which `task` was done since the last call; perhaps none.
  virtual void announce(int task, std::span<const int> tensors) = 0;
  /// Sends and receives what it can, without blocking. The buckets to launch now, in order. A bucket of each task in
  /// `completed` was done since the last call, `in_flight` are not. \throws Error (lost_rank) when others have been
  /// silent for too long.
  virtual std::vector<LeavingBucket> poll(std::span<const int> completed, int in_flight) = 0;
  /// When `poll` has something to do although nothing arrives; none where it waits for messages and gradients only.
  virtual std::optional<Clock::time_point> wakeup() const { return std::nullopt; }
  /// Whether a message may arrive now that lets a bucket leave or the step end. Before this rank has announced
  /// anything none can.
  virtual bool expects_messages() const = 0;
  /// Something of this step is late. Where this rank knows of workers whose gradients have not come, though its own
  /// are there, they are why. \throws Error (lost_rank) that names them, after the other ranks have been informed.
  virtual void report_missing() {}
  /// Nothing more will leave in this step.
  virtual bool all_launched() const = 0;
  /// What follows the cycle that this step ends; known once all buckets are launched.
  virtual Phase next() const = 0;
  /// The job is over: waits until the last message has left.
  virtual void finish() = 0;
  /// This rank is about to fail because of `late`: informs the ranks that it can reach.
  virtual void abort(std::span<const Rank> late) = 0;
};

/// Rank 0's side, and that of every other rank. Both keep references to what they are given.
std::unique_ptr<Negotiator> make_coordinator_side(const TrainingRequest& request, Transport& transport,
                                                  const GradientLayout& layout, const StepPlan& plan);
std::unique_ptr<Negotiator> make_worker_side(const TrainingRequest& request, Transport& transport,
                                             const StepPlan& plan);
/// That of any worker where ranks do not meet in collectives; it keeps references, too. \pre not `in_lockstep(plan)`
std::unique_ptr<Negotiator> make_free_side(const TrainingRequest& request, Transport& transport,
                                           const GradientLayout& layout, const StepPlan& plan);

/// `step 3: waited 60 s for rank 1`, and what to do.
Error late_ranks(int step, Seconds timeout, std::string_view what);

/// How far a job has come.
struct JobProgress {
  int steps = 0;  ///< done, warm-up included
  int timed = 0;  ///< done and timed
  int traced = 0;
  Seconds elapsed;
  int start = 0;  ///< steps before the warm-up, in which the plan has not begun all it does: as `StepPlan::start`

  /// A cycle of the plan's `iterations` is done.
  void count(Phase phase, int iterations = 1) {
    steps += iterations;
    timed += phase == Phase::timed ? iterations : 0;
    traced += phase == Phase::traced ? iterations : 0;
  }
};

/// Where a job begins, or goes on. \param start as `StepPlan::start`
inline JobProgress begin_of(const TrainingRequest& request, int start) {
  const int warm_at = start + request.warmup_steps;
  return {.steps = request.first_step, .timed = std::max(0, request.first_step - warm_at), .start = start};
}

/// What follows the timed steps. Once the budget is spent three times, one traced step is enough.
inline Phase next_traced_phase(const TrainingRequest& request, const JobProgress& progress) {
  const bool enough = request.budget > Seconds(0) && progress.elapsed > 3 * request.budget && progress.traced > 0;
  return progress.traced < request.traced_steps && !enough ? Phase::traced : Phase::stop;
}

/// What the next step is. A spent budget ends the warm-up and, once one step has been timed, the timed steps.
inline Phase next_phase(const TrainingRequest& request, const JobProgress& progress) {
  const bool spent = request.budget > Seconds(0) && progress.elapsed > request.budget;
  if (progress.timed >= request.steps || (spent && progress.timed > 0)) return next_traced_phase(request, progress);
  const int warm_at = progress.start + (spent ? 0 : request.warmup_steps);
  return progress.steps < warm_at ? Phase::warmup : Phase::timed;
}

}  // namespace hbench
