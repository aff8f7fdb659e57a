#pragma once

/// Where the compute thread and the communication thread of one worker meet.

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "workloads/engine/messages.hpp"

namespace hbench {

/// Thread-safe. The compute thread begins a step, announces gradients and waits for the step's end; the
/// communication thread takes the announcements and ends the step.
class Handover {
 public:
  using Clock = std::chrono::steady_clock;

  /// \name Compute thread
  /// @{
  void begin_step(Clock::time_point at);
  void announce(int tensor);
  /// Blocks until all gradients of the step are reduced; what the next step is. \throws what the
  /// communication thread failed with.
  Phase wait_for_step_end();
  /// No more steps; also the way out when computing failed.
  void close();
  /// @}

  /// \name Communication thread
  /// @{
  /// Blocks until the next step begins; when it did, or none when closed.
  std::optional<Clock::time_point> wait_for_step();
  /// The tensors announced since the last call, in ready order.
  std::vector<int> take();
  /// Leaves the core to the compute thread until a gradient is announced, but at most for `longest`; while
  /// the compute thread waits, it only lets others pass. False when closed.
  bool rest(std::chrono::microseconds longest);
  void end_step(Phase next);
  void fail(std::exception_ptr failure);
  /// @}

 private:
  std::mutex mutex_;
  std::condition_variable for_communication_, for_compute_;
  std::optional<Clock::time_point> begun_;
  std::vector<int> announced_;
  std::optional<Phase> next_;
  bool compute_waits_ = false;
  bool closed_ = false;
  std::exception_ptr failure_;
};

}  // namespace hbench
