#pragma once

/// What follows an iteration where no order of rank 0's ends it on all ranks.

#include <chrono>
#include <memory>
#include <optional>

#include "collectives/transport/transport.hpp"
#include "workloads/engine/messages.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// One worker's. Used by one thread at a time, iteration after iteration.
class Pacer {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Pacer() = default;
  /// An iteration of the job begins.
  virtual void begin(Clock::time_point at) = 0;
  /// Nothing is left to do in this iteration.
  virtual void end() = 0;
  /// Sends and receives what it can, without blocking. \throws Error (lost_rank) when rank 0 has been silent for too
  /// long.
  virtual void poll() = 0;
  /// Once the iteration has ended: what comes next, or none while that is not known.
  virtual std::optional<Phase> next() const = 0;
  /// Whether a message may arrive that lets `next` be known.
  virtual bool expects_messages() const = 0;
  /// The job is over: waits until the last message has left.
  virtual void finish() = 0;
};

/// For workers that wait for their neighbours: all do the same iterations. Rank 0 decides of each one, some iterations
/// before it can begin anywhere, so that nobody waits for the decision. The references outlive it.
std::unique_ptr<Pacer> make_leading_pacer(const TrainingRequest& request, Transport& transport, const StepPlan& plan);

/// For workers that wait for nobody: each does the timed steps at its own pace, and goes on untimed until rank 0 has
/// heard of all that they have done theirs, so that no step is timed beside fewer ranks. The references outlive it.
std::unique_ptr<Pacer> make_own_pacer(const TrainingRequest& request, Transport& transport);

}  // namespace hbench
