#pragma once

/// What rank 0 decides in a step: counts announcements, asks the fusion policy, and says which buckets leave.
/// Pure: its caller (`coordinator_side.cpp`) has the clock and the messages.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/fusion/departures.hpp"
#include "collectives/fusion/fusion.hpp"

namespace hbench {

/// One per job; not thread-safe. Times are seconds since rank 0's step began and never decrease. Every member
/// that returns buckets returns those to launch now, in order, each with its tensors in layout order.
class Coordinator {
 public:
  Coordinator(std::unique_ptr<FusionPolicy> policy, std::vector<std::int64_t> tensor_bytes, int workers);

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
  bool all_launched() const { return launched_.complete(); }
  /// No event is to come that could make the policy release what it holds: its mistake, or ours.
  bool stuck(int buckets_in_flight) const;
  /// Whether a gradient that `worker` has announced is missing from others.
  bool waits_for_others(int worker) const { return tensors_ - missing(worker) > ready_; }
  /// Gradients of `worker` that are still to be announced.
  int missing(int worker) const { return missing_[static_cast<std::size_t>(worker)]; }

 private:
  void deliver(FusionEventKind kind, Seconds at, int index, std::vector<Bucket>& out);

  std::unique_ptr<FusionPolicy> policy_;
  int tensors_;
  int workers_;
  std::vector<int> votes_;               ///< per tensor
  std::vector<std::vector<bool>> seen_;  ///< per worker and tensor
  std::vector<int> missing_;             ///< per worker
  Departures launched_;
  int ready_ = 0;
  int done_ = 0;
};

}  // namespace hbench
