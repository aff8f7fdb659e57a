#pragma once

/// Records the spans of one lane of one rank while a step is traced.

#include <chrono>
#include <vector>

#include "collectives/base/span.hpp"
#include "collectives/device/device.hpp"

namespace hbench {

/// A thread's own. Does nothing, and allocates nothing, in steps that are not traced. The boundaries of spans are
/// events in the queue of `device`, so that spans on a GPU are those of its work and nothing waits for it while the
/// step runs.
class StepTrace {
 public:
  using Clock = std::chrono::steady_clock;

  /// `device` outlives the trace.
  StepTrace(Rank rank, Lane lane, Device& device) : rank_(rank), lane_(lane), device_(&device) {}

  /// A traced step has begun. \pre the device has no work left: its queue begins now.
  void begin();
  bool active() const { return active_; }

  /// Records an event, or nothing when not active.
  Event mark() { return active_ ? device_->record_timed_event() : nullptr; }
  /// Two results of `mark`.
  void add(SpanKind kind, const Event& begin, const Event& end, int bucket = -1);
  void add(SpanKind kind, Clock::time_point begin, Clock::time_point end, int bucket = -1);
  /// What was done since the last lap, or since `begin`.
  void lap(SpanKind kind);

  /// The step has ended: its spans, in the order in which they were added. Waits until the device has done what was
  /// marked.
  std::vector<Span> end();

 private:
  /// Whose times the device knows, and will say at the step's end.
  struct Marked {
    std::size_t span;
    Event begin, end;
  };

  Rank rank_;
  Lane lane_;
  Device* device_;
  bool active_ = false;
  Seconds origin_time_;
  Event origin_, last_;
  std::vector<Span> spans_;
  std::vector<Marked> marked_;
};

}  // namespace hbench
