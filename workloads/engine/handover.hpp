#pragma once

/// Where the compute thread and the communication thread of one worker meet.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "collectives/executors/device.hpp"
#include "workloads/engine/messages.hpp"

namespace hbench {

/// What the compute thread learns at the end of a step.
struct StepEnd {
  Phase next = Phase::stop;
  Moment reduced;  ///< the sums lie in the gradients' buffer
};

/// Thread-safe. The compute thread begins a step, announces gradients and waits for the step's end; the
/// communication thread takes the announcements and ends the step.
class Handover {
 public:
  using Clock = std::chrono::steady_clock;

  /// \name Compute thread
  /// @{
  void begin_step(Clock::time_point at);
  /// The gradient is complete once `ready` is passed.
  void announce(int tensor, Moment ready = nullptr);
  /// Nothing is left to do but to wait: the communication thread may have the core.
  void rest();
  /// Blocks until all gradients of the step are reduced, or told to be. \throws what the communication thread failed
  /// with.
  StepEnd wait_for_step_end();
  /// No more steps; also the way out when computing failed.
  void close();
  /// @}

  /// \name Communication thread
  /// @{
  /// Blocks until the next step begins; when it did, or none when closed.
  std::optional<Clock::time_point> wait_for_step();
  /// The tensors that have become ready since the last call, in the order announced. `device` is of the kind that the
  /// announcements' moments are.
  std::vector<int> take(Device& device);
  /// Leaves the core to the compute thread until another gradient is announced, but at most for `longest`; while the
  /// compute thread rests, it only lets others pass. False when closed.
  bool rest(std::chrono::microseconds longest);
  void end_step(const StepEnd& end);
  void fail(std::exception_ptr failure);
  /// @}

 private:
  std::mutex mutex_;
  std::condition_variable for_communication_, for_compute_;
  std::optional<Clock::time_point> begun_;
  struct Announced {
    int tensor;
    Moment ready;
  };
  std::deque<Announced> announced_;
  bool news_ = false;  ///< since the last `take`
  std::optional<StepEnd> end_;
  bool compute_rests_ = false;
  bool closed_ = false;
  std::exception_ptr failure_;
};

}  // namespace hbench
