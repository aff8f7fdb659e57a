#pragma once

/// Where the compute thread and the communication thread of one worker meet.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "collectives/device/device.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/transport/doorbell.hpp"
#include "workloads/engine/messages.hpp"

namespace hbench {

/// What the communication thread learns when a step begins.
struct StepBegin {
  std::chrono::steady_clock::time_point at;
  int iteration = 0;  ///< of the job
  bool traced = false;
};

/// What the compute thread learns of a collective that has ended on this rank.
struct CollectiveEnd {
  Event arrived;                  ///< the results lie in their buffer
  std::vector<ElementRange> own;  ///< of a reduce-scatter: the parts of the buffer that are this rank's
};

/// What the compute thread learns at the end of a step.
struct StepEnd {
  Phase next = Phase::stop;
  Event arrived;  ///< the results of all collectives lie in their buffers
};

/// What the communication thread learns when it looks.
struct Announced {
  int task = 0;            ///< of the plan, that is done for them
  std::vector<int> ready;  ///< tensors that have become ready since the look before, in the order announced
  bool pending = false;    ///< others are announced, and their device has not finished them
  bool computed = false;   ///< the compute thread waits for the step's end: it needs the core no more
  bool closed = false;
};

/// Thread-safe. The compute thread begins a step, announces what it has computed and waits for collectives and for the
/// step's end; the communication thread takes the announcements and ends collectives and the step. Everything that the
/// compute thread says rings the communication thread's doorbell.
class Handover {
 public:
  using Clock = std::chrono::steady_clock;

  /// `doorbell` outlives the handover.
  explicit Handover(Doorbell& doorbell) : doorbell_(doorbell) {}
  Doorbell& doorbell() const { return doorbell_; }

  /// \name Compute thread
  /// @{
  void begin_step(const StepBegin& begin);
  /// `task` is done for the tensor once `ready` has happened. \pre the tasks before it were announced as a whole
  void announce(int task, int tensor, Event ready = nullptr);
  /// All work of this step is done or enqueued: the communication thread may have the core.
  void end_compute();
  /// Blocks until a collective of the step has ended on this rank, or is enqueued. \throws what the communication
  /// thread failed with.
  CollectiveEnd wait_for(int task);
  /// Blocks until all collectives of the step have ended, or are enqueued. Implies `end_compute`. \throws the same.
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
  void end_collective(int task, CollectiveEnd end);
  void end_step(const StepEnd& end);
  void set_communicating(bool is) { communicating_.store(is, std::memory_order_relaxed); }
  void fail(std::exception_ptr failure);
  /// @}

 private:
  struct Announcement {
    int task;
    int tensor;
    Event ready;
  };

  Doorbell& doorbell_;
  std::mutex mutex_;
  std::condition_variable ended_;  ///< a collective, or the step
  std::optional<StepBegin> begun_;
  std::deque<Announcement> announced_;
  std::map<int, CollectiveEnd> collectives_;  ///< that have ended in this step, by task
  std::optional<StepEnd> end_;
  bool computed_ = false;
  bool closed_ = false;
  std::exception_ptr failure_;
  std::atomic<bool> communicating_ = false;
};

}  // namespace hbench
