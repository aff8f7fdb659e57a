#include "workloads/engine/step_trace.hpp"

#include <utility>

namespace hbench {
namespace {

/// The host's time of an event is known between two readings of the clock. Where the thread lost its core between them
/// they are read again, so often at most.
constexpr int kReadings = 5;
constexpr Seconds kGoodReading{20e-6};

Seconds time_of(StepTrace::Clock::time_point at) {
  return Seconds(std::chrono::duration<double>(at.time_since_epoch()).count());
}

}  // namespace

void StepTrace::begin() {
  active_ = true;
  Seconds narrowest(0);
  for (int i = 0; i < kReadings && (i == 0 || narrowest > kGoodReading); ++i) {
    const Seconds before = time_of(Clock::now());
    const Event event = device_->record_timed_event();
    const Seconds after = time_of(Clock::now());
    if (i > 0 && after - before >= narrowest) continue;
    narrowest = after - before;
    origin_time_ = 0.5 * (before + after);
    origin_ = last_ = event;
  }
}

void StepTrace::add(SpanKind kind, const Event& begin, const Event& end, int bucket) {
  if (!active_) return;
  marked_.push_back({spans_.size(), begin, end});
  spans_.push_back({.rank = rank_, .lane = lane_, .kind = kind, .bucket = bucket});
}

void StepTrace::add(SpanKind kind, Clock::time_point begin, Clock::time_point end, int bucket) {
  if (!active_) return;
  spans_.push_back(
      {.rank = rank_, .lane = lane_, .kind = kind, .begin = time_of(begin), .end = time_of(end), .bucket = bucket});
}

void StepTrace::lap(SpanKind kind) {
  if (!active_) return;
  const Event now = mark();
  add(kind, std::exchange(last_, now), now);
}

std::vector<Span> StepTrace::end() {
  const auto at = [&](const Event& event) { return origin_time_ + device_->elapsed(origin_, event); };
  for (const Marked& marked : marked_) {
    spans_[marked.span].begin = at(marked.begin);
    spans_[marked.span].end = at(marked.end);
  }
  marked_.clear();
  origin_ = last_ = nullptr;
  active_ = false;
  return std::exchange(spans_, {});
}

}  // namespace hbench
