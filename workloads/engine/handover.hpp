#pragma once

/// Where the compute thread and the communication thread of one worker meet.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "collectives/device/device.hpp"
#include "collectives/transport/doorbell.hpp"
#include "workloads/engine/messages.hpp"

namespace hbench {

/// What the communication thread learns when a step begins.
struct StepBegin {
  std::chrono::steady_clock::time_point at;
  bool traced = false;
};

/// What the compute thread learns at the end of a step.
struct StepEnd {
  Phase next = Phase::stop;
  Event reduced;  ///< the sums lie in the gradients' buffer
};

/// What the communication thread learns when it looks.
struct Announced {
  std::vector<int> ready;  ///< tensors that have become ready since the look before, in the order announced
  bool pending = false;    ///< others are announced, and their device has not finished them
  bool computed = false;   ///< the compute thread waits for the step's end: it needs the core no more
  bool closed = false;
};

/// Thread-safe. The compute thread begins a step, announces gradients and waits for the step's end; the
/// communication thread takes the announcements and ends the step. Everything that the compute thread says rings the
/// communication thread's doorbell.
class Handover {
 public:
  using Clock = std::chrono::steady_clock;

  /// `doorbell` outlives the handover.
  explicit Handover(Doorbell& doorbell) : doorbell_(doorbell) {}
  Doorbell& doorbell() const { return doorbell_; }

  /// \name Compute thread
  /// @{
  void begin_step(const StepBegin& begin);
  /// The gradient is complete once `ready` has happened.
  void announce(int tensor, Event ready = nullptr);
  /// All work of this step is done or enqueued: the communication thread may have the core.
  void end_compute();
  /// Blocks until all gradients of the step are reduced, or their reductions enqueued. Implies `end_compute`.
  /// \throws what the communication thread failed with.
  StepEnd wait_for_step_end();
  /// No more steps; also called when computing failed.
  void close();
  /// Whether buckets of this rank are in flight, as the communication thread last saw it.
  bool communicating() const { return communicating_.load(std::memory_order_relaxed); }
  /// @}

  /// \name Communication thread
  /// @{
  /// Blocks until the next step begins; none when closed.
  std::optional<StepBegin> wait_for_step();
  /// `device` is of the kind that the announcements' events belong to.
  Announced take(Device& device);
  void end_step(const StepEnd& end);
  void set_communicating(bool is) { communicating_.store(is, std::memory_order_relaxed); }
  void fail(std::exception_ptr failure);
  /// @}

 private:
  struct Announcement {
    int tensor;
    Event ready;
  };

  Doorbell& doorbell_;
  std::mutex mutex_;
  std::condition_variable step_ended_;
  std::optional<StepBegin> begun_;
  std::deque<Announcement> announced_;
  std::optional<StepEnd> end_;
  bool computed_ = false;
  bool closed_ = false;
  std::exception_ptr failure_;
  std::atomic<bool> communicating_ = false;
};

}  // namespace hbench
