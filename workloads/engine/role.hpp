#pragma once

/// A rank's part in agreeing which buckets leave: rank 0 leads, the others follow.

#include <chrono>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/executors/transport.hpp"
#include "workloads/engine/layout.hpp"
#include "workloads/engine/messages.hpp"
#include "workloads/training.hpp"

namespace hbench {

/// Rank 0 finds out first who is late, and says so; the others wait so many times longer before they judge.
inline constexpr double kMorePatience = 2;

/// Used by one thread at a time, step after step.
class Role {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Role() = default;
  virtual void begin_step(Clock::time_point at) = 0;
  /// This worker's gradients that have become ready since the last call; perhaps none.
  virtual void announce(std::span<const int> tensors) = 0;
  /// The buckets to launch now, in order. `completed` buckets were done since the last call, `in_flight` are
  /// not. \throws Error (lost_rank) when others have been silent for too long.
  virtual std::vector<Bucket> poll(int completed, int in_flight) = 0;
  /// Something of this step is late. Where this rank knows of workers whose gradients have not come, though its own
  /// are there, they are why. \throws Error (lost_rank) that names them, after it has told the others.
  virtual void blame_missing() {}
  /// Nothing more will leave in this step.
  virtual bool all_launched() const = 0;
  /// What follows this step; known once all buckets are launched.
  virtual Phase next() const = 0;
  /// The job is over: waits until the last mail has left.
  virtual void finish() = 0;
  /// This rank is about to fail because of `late`: says so to whom it can.
  virtual void give_up(std::span<const Rank> late) = 0;
};

/// Both keep references to what they are given.
std::unique_ptr<Role> make_leader(const TrainingRequest& request, Transport& transport, const GradientLayout& layout);
std::unique_ptr<Role> make_follower(const TrainingRequest& request, Transport& transport);

/// `step 3: waited 60 s for rank 1`, and what to do.
Error late_ranks(int step, Seconds timeout, std::string_view what);

}  // namespace hbench
