#pragma once

/// What rank 0 decides in a step: counts announcements, walks the plan with them, and returns which buckets leave.
/// Pure: its caller (`coordinator_side.cpp`) has the clock and the messages.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "workloads/methods/step_progress.hpp"

namespace hbench {

/// One per job; not thread-safe. Times are seconds since rank 0's step began and never decrease. Every member
/// that returns buckets returns those to launch now, in order, each with its tensors in layout order.
class Coordinator {
 public:
  /// \pre the plan has one backward task and, after it, one collective: what the engine trains with.
  Coordinator(StepProgress progress, int workers);

  std::vector<Bucket> begin_step();
  /// `worker` has these gradients. A tensor that all workers have is ready. \throws std::logic_error when a
  /// worker announces a tensor twice.
  std::vector<Bucket> announced(int worker, std::span<const std::int32_t> tensors, Seconds at);
  /// One more bucket is complete.
  std::vector<Bucket> bucket_done(Seconds at);
  /// Time has passed: delivers timers that are due.
  std::vector<Bucket> tick(Seconds at);
  /// When `tick` may release something; none while the policy holds no gradient, whatever its timers are.
  std::optional<Seconds> wakeup() const;

  /// Every tensor has left.
  bool all_launched() const { return progress_.all_launched(); }
  /// No event is to come that could make the policy release what it holds: its mistake, or ours.
  bool stuck(int buckets_in_flight) const;
  /// Whether a gradient that `worker` has announced is missing from others.
  bool waits_for_others(int worker) const { return progress_.tensors() - missing(worker) > ready_; }
  /// Gradients of `worker` that are still to be announced.
  int missing(int worker) const { return missing_[static_cast<std::size_t>(worker)]; }

 private:
  /// Adds the buckets of `starts` to `out`.
  void release(std::vector<Start> starts, std::vector<Bucket>& out) const;
  void end_compute(Seconds at, std::vector<Bucket>& out);

  StepProgress progress_;
  int backward_ = 0, exchange_ = 0;  ///< tasks of the plan
  int workers_;
  std::vector<int> votes_;               ///< per tensor
  std::vector<std::vector<bool>> seen_;  ///< per worker and tensor
  std::vector<int> missing_;             ///< per worker
  int ready_ = 0;
};

}  // namespace hbench
