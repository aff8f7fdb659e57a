#pragma once

/// What rank 0 decides in an iteration: counts announcements, walks the plan with them, and returns which buckets
/// leave. Pure: its caller (`negotiator.cpp`) has the clock and the messages.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "workloads/methods/step_progress.hpp"

namespace hbench {

/// A bucket of a collective of the plan, which leaves now.
struct LeavingBucket {
  int task = 0;
  Bucket bucket;

  friend bool operator==(const LeavingBucket&, const LeavingBucket&) = default;
};

/// Returns the tasks that compute, and that a collective of this iteration comes after: workers announce them, tensor
/// by tensor, of a unit alone where they are of one.
std::vector<int> announced_tasks(const StepPlan& plan, int iteration);

/// One per job; not thread-safe. Times are seconds since rank 0's iteration began and never decrease. Every member
/// that returns buckets returns those to launch now, in order, each with its tensors in layout order.
class Coordinator {
 public:
  Coordinator(StepProgress progress, int workers);

  /// Begins an iteration of the job, in which something is exchanged.
  std::vector<LeavingBucket> begin_step(int iteration = 0);
  /// On `worker`, `task` is done for these tensors. One for which it is done on all workers is ready.
  /// \throws std::logic_error when a worker announces a tensor twice.
  std::vector<LeavingBucket> announced(int worker, int task, std::span<const std::int32_t> tensors, Seconds at);
  /// One more bucket of a collective is complete.
  std::vector<LeavingBucket> bucket_done(int task, Seconds at);
  /// Time has passed: delivers timers that are due.
  std::vector<LeavingBucket> tick(Seconds at);
  /// When `tick` may release something; none while the policies hold nothing, whatever their timers are.
  std::optional<Seconds> wakeup() const;

  /// Every tensor of every collective has left.
  bool all_launched() const { return progress_.all_launched(); }
  /// No event is to come that could make a policy release what it holds: its mistake, or ours.
  bool stuck(int buckets_in_flight) const;
  /// Whether something that `worker` has announced is missing from others.
  bool waits_for_others(int worker) const;
  /// The number of tensors that `worker` is still to announce, of the first task that not all have announced.
  int missing(int worker) const;
  /// The number of tensors that `worker` is still to announce in this iteration.
  int to_come(int worker) const;

 private:
  /// What workers have announced of one task.
  struct Votes {
    /// \param all tensors of the model \param of those that the task is of
    Votes(int done, int workers, int all, int of);
    bool complete() const { return ready == tensors; }

    int task;
    int tensors;
    std::vector<int> count;               ///< by tensor
    std::vector<std::vector<bool>> seen;  ///< by worker and tensor
    std::vector<int> missing;             ///< by worker
    int ready = 0;                        ///< tensors
  };

  const Votes* open() const;
  /// Adds the buckets of `starts` to `out`.
  void release(std::vector<Start> starts, std::vector<LeavingBucket>& out) const;
  void end_compute(int task, Seconds at, std::vector<LeavingBucket>& out);

  StepProgress progress_;
  int workers_;
  std::vector<Votes> votes_;  ///< by task that is announced, in the order of the plan
};

}  // namespace hbench
