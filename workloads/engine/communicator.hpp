#pragma once

/// What a rank does beside computing: negotiates with the others which buckets leave, and exchanges them.

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <utility>

#include "collectives/endpoints/endpoint.hpp"
#include "collectives/transport/doorbell.hpp"
#include "workloads/engine/handover.hpp"
#include "workloads/engine/memories.hpp"
#include "workloads/engine/negotiator.hpp"
#include "workloads/engine/reducer.hpp"
#include "workloads/engine/some_exchange.hpp"
#include "workloads/engine/step_trace.hpp"

namespace hbench {

/// The time between two looks at messages or devices that ring no doorbell (MPI, GPUs). Every look interrupts the
/// compute thread, so the interval doubles while nothing happens. Used by one thread.
class PollingInterval {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  constexpr PollingInterval(Nanoseconds shortest, Nanoseconds longest)
      : shortest_(shortest), longest_(longest), next_(shortest) {}

  /// Something happened: more may follow at once.
  constexpr void reset() { next_ = shortest_; }
  /// How long to wait now.
  constexpr Nanoseconds next() { return std::exchange(next_, std::min(2 * next_, longest_)); }

 private:
  Nanoseconds shortest_, longest_, next_;
};

/// The only user of the endpoint while it runs.
class Communicator {
 public:
  /// Everything given outlives the communicator. `memory` is laid out as `layout` says; after a step it holds, on
  /// workers, what the collectives of `plan` leave there: sums of gradients, means of parameters.
  Communicator(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout, const StepPlan& plan,
               const ModelMemory& memory);

  /// What the communication thread waits on: the endpoint's doorbell, or one of this process where the endpoint has
  /// none. For the handover.
  Doorbell& doorbell() { return *doorbell_; }
  /// The communication thread of a worker: serves `handover` until it is closed. Failures go there.
  void run(Handover& handover) noexcept;
  /// Of a traced step, once the compute thread has waited for its end and before it begins the next: the spans of its
  /// buckets.
  std::vector<Span> end_trace() { return trace_.end(); }
  /// Between two steps, for the compute thread: what this rank carries from one to the next beside the model.
  void walk(StateWalk& state) { reducer_.walk(state); }
  /// A dedicated server: takes part in every step until the job ends. \throws Error (lost_rank).
  void serve();
  /// On rank 0, once the job has ended: how often servers applied a gradient, by the number of others
  /// that it was computed without.
  const std::map<int, std::int64_t>& unseen() const { return unseen_; }

 private:
  using Arrivals = std::vector<Reducer::Arrival>;

  void begin_step(std::chrono::steady_clock::time_point at, int iteration);
  bool step(Handover& handover);
  void serve_steps();
  void wait_as_server(const Doorbell::Ticket& ticket, bool moved, int& idle);
  Arrivals look(const Arrivals& before);
  void end_collectives(const Arrivals& arrivals, Handover& handover);
  void note_ready(std::span<const int> tensors);
  void note_departure(const LeavingBucket& leaving);
  std::chrono::nanoseconds longest_wait(bool announcements_pending, PollingInterval& polling) const;
  void check_late();
  /// Whether other ranks may ask something of this one at any time.
  bool answers() const { return some_ != nullptr && some_->answers(); }

  Seconds patience_;  ///< with a collective that does not end
  /// The longest time without a look: late ranks must be noticed, and rank 0 must inform the others that it is alive.
  std::chrono::nanoseconds health_check_;
  Device& device_;
  DoorbellState own_state_{};
  FutexDoorbell own_doorbell_{own_state_};
  Doorbell* doorbell_;
  bool polls_;                        ///< the endpoint does not ring
  std::chrono::nanoseconds polling_;  ///< `TrainingRequest::polling`
  const StepPlan& plan_;
  std::vector<std::int64_t> bytes_;  ///< by task: of all its tensors
  std::unique_ptr<Negotiator> negotiator_;
  StepTrace trace_;
  std::unique_ptr<SomeExchange> some_;  ///< null where all exchanges are among all
  Reducer reducer_;
  int step_ = 0;                                     ///< in which something was exchanged
  std::vector<StepTrace::Clock::time_point> ready_;  ///< by tensor, in a traced step
  int departed_ = 0;                                 ///< buckets of the step
  int iteration_ = 0;                                ///< of the job
  std::vector<std::int64_t> missing_;                ///< bytes that have not arrived, by task, in the step
  std::map<int, std::int64_t> unseen_;
};

}  // namespace hbench
