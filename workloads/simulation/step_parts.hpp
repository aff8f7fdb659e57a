#pragma once

/// The parts of one simulated step, each with the state that changes together: the compute of the slowest rank, the
/// buckets in flight, the periods in which there are some, and the spans. Times are seconds since the step began.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "collectives/base/span.hpp"
#include "collectives/network/concurrent_collectives.hpp"
#include "workloads/step/strategy.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {

/// When something happens that never does.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// The passes of the slowest rank, which communication in flight slows.
class ComputeClock {
 public:
  /// The slowest rank takes `late` times as long as `timeline` (which outlives this), and `slowdown` of a second longer
  /// for each second beside communication. Without `overlap` all gradients are ready at its end.
  ComputeClock(const StepTimeline& timeline, double late, double slowdown, bool overlap)
      : timeline_(timeline), late_(late), slowdown_(slowdown), overlap_(overlap) {}

  void begin() {
    done_work_ = 0;
    gradients_ = 0;
    ended_ = false;
  }
  bool ended() const { return ended_; }
  double ended_at() const { return ended_at_; }  ///< \pre `ended`
  int gradients() const { return gradients_; }   ///< ready so far
  double late() const { return late_; }
  /// Undisturbed compute until the end of the backward pass.
  double work() const { return timeline_.passes().value * late_; }

  /// When the next gradient is ready or the backward pass ends, if nothing changes until then.
  double next(double now, bool beside_communication) const {
    if (ended_) return kNever;
    const double until =
        next_gradient_is_early()
            ? (timeline_.forward.value + timeline_.gradients[static_cast<std::size_t>(gradients_)].ready.value) * late_
            : work();
    return now + std::max(0.0, until - done_work_) * pace(beside_communication);
  }
  void pass(double duration, bool beside_communication) {
    if (!ended_) done_work_ += duration / pace(beside_communication);
  }
  /// Handles what `next` announced: another gradient is ready, or all are and the compute has ended.
  void advance(double now) {
    if (next_gradient_is_early()) {
      ++gradients_;
      return;
    }
    gradients_ = static_cast<int>(timeline_.gradients.size());
    done_work_ = work();
    ended_at_ = now;
    ended_ = true;
  }

 private:
  bool next_gradient_is_early() const {
    return overlap_ && static_cast<std::size_t>(gradients_) < timeline_.gradients.size();
  }
  double pace(bool beside_communication) const {
    return beside_communication && done_work_ < work() ? 1 + slowdown_ : 1;
  }

  const StepTimeline& timeline_;
  double late_, slowdown_;
  bool overlap_;
  double done_work_ = 0;  ///< undisturbed seconds of compute done
  double ended_at_ = 0;
  int gradients_ = 0;
  bool ended_ = false;
};

/// The periods of a step with buckets in flight, from a point in time without communication to the next.
class BusyPeriods {
 public:
  void begin() {
    periods_.clear();
    total_ = 0;
    left_ = arrived_ = 0;
  }
  bool busy() const { return arrived_ < left_; }
  /// Seconds in which there was communication in flight.
  double total() const { return total_; }
  int buckets() const { return left_; }

  void pass(double duration) {
    if (busy()) total_ += duration;
  }
  /// Returns the number of the bucket that leaves at `now`.
  int leave(double now) {
    if (!busy()) periods_.push_back({now, now});
    return left_++;
  }
  /// Returns the number of those that have arrived, with the one that does at `now`.
  int arrive(double now) {
    periods_.back().end = now;
    return ++arrived_;
  }

  /// Lets communication proceed at `share` of its rate until compute ends at `compute_end`, and returns when all has
  /// arrived then. A queue that always works when it can is busy from the same arrivals on, only longer.
  double slow(double compute_end, double share);
  /// When the communication is as far as it was at `time`; what is in no period is not slowed. \pre `slow` was called
  double slowed(double time) const;

 private:
  struct Period {
    double begin;
    double end;
    double slowed_begin = 0;  ///< when it begins where compute slows those before
  };
  double slowed(const Period& period, double time) const;

  std::vector<Period> periods_;  ///< in order
  double total_ = 0;
  int left_ = 0, arrived_ = 0;          ///< buckets
  double compute_end_ = 0, share_ = 1;  ///< as `slow` was called
};

/// Writes the spans of a step, or none where nobody asks for them.
class SpanWriter {
 public:
  /// `spans`, which may be null, outlives it.
  explicit SpanWriter(std::vector<Span>* spans) : spans_(spans) {}

  void begin() {
    if (spans_ != nullptr) spans_->clear();
  }
  /// All ranks exchange alike; rank 0 stands for them.
  void add(SpanKind kind, double begin, double end, int bucket) {
    if (spans_ == nullptr || end <= begin) return;
    spans_->push_back(
        {.lane = Lane::communication, .kind = kind, .begin = Seconds(begin), .end = Seconds(end), .bucket = bucket});
  }
  /// Moves what was added to where slowed communication is.
  void slow(const BusyPeriods& periods);
  /// Adds the compute of the slowest rank, and of one that takes no longer than the timeline, in a step whose last
  /// gradient is reduced at `reduced`. What communication slows is the backward pass: there it is in flight.
  void add_compute(const StepTimeline& timeline, const ComputeClock& compute, double reduced);

 private:
  std::vector<Span>* spans_;
};

/// The buckets in flight: one after the other on a stream, or, of concurrent algorithms, together on the network.
class InFlight {
 public:
  /// All outlive it.
  InFlight(Network& network, const StepTimeline& timeline, const TrainingStrategy& strategy, SpanWriter& spans);

  void begin();
  /// When the next one may arrive, or come further; `kNever` where there is none.
  double next(double now) const;
  /// Adds one that others wait for: it begins at `ready` at the soonest. \param packing of the duration
  void queue(int bucket, double ready, double duration, double packing) {
    stream_.push_back({ready, duration, packing, bucket});
  }
  /// Adds one of a concurrent algorithm. \pre buckets are added in order
  void fly(const Bucket& bucket, std::int64_t elements, double start);
  /// Handles what `next` announced. Returns whether a bucket has arrived with it.
  bool advance(double now);

 private:
  /// A bucket on the one stream.
  struct Queued {
    double ready;
    double duration;
    double packing;
    int bucket;
  };
  void add_spans(const Queued& queued, double now);

  Network& network_;
  const TrainingStrategy& strategy_;
  SpanWriter& spans_;
  std::vector<std::vector<Shard>> shards_;  ///< by tensor; none without servers
  std::deque<Queued> stream_;
  double stream_free_ = 0;
  std::optional<ConcurrentCollectives> concurrent_;
  std::vector<double> departed_;  ///< by concurrent bucket
};

}  // namespace hbench
