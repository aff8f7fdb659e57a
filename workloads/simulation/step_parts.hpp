#pragma once

/// The parts of one simulated step, each with the state that changes together: the compute of the slowest rank, what
/// the host costs, the buckets in flight, the periods in which there are some, and the spans. Times are seconds since
/// the step began.

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "collectives/base/span.hpp"
#include "collectives/network/concurrent_collectives.hpp"
#include "workloads/methods/step_plan.hpp"
#include "workloads/step/strategy.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {

/// When something happens that never does.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// Tasks that compute, one right after the other: nothing waits for one of them but the next.
struct ComputeStretch {
  std::vector<int> tasks;                  ///< of the plan
  Seconds before_backward;                 ///< undisturbed, of the passes before the one that makes gradients
  Seconds passes;                          ///< undisturbed, forward and backward
  Seconds update;                          ///< of the optimizer, which takes as long on all ranks
  bool forward = false, backward = false;  ///< which passes it has a part of
  bool has_gradients = false;              ///< that leave one by one
  bool ends_step = false;                  ///< updates alone, for which nothing waits but the next iteration
};

/// The stretches of an iteration of a cycle, of `ranks` ranks, in the order in which they run.
std::vector<ComputeStretch> compute_stretches(const StepPlan& plan, int iteration, const StepTimeline& timeline,
                                              int ranks);

/// A stretch that has ended, as the slowest rank and as one that computes as fast as the timeline have it.
struct Ran {
  SpanKind kind = SpanKind::forward;
  double begin = 0, end = 0;
  double early_begin = 0, early_end = 0;
};

/// The compute stream of a rank, the slowest where it stands for all, which communication in flight slows.
class ComputeClock {
 public:
  /// What is beside communication takes `slowdown` of a second longer for each second. `timeline` outlives this.
  ComputeClock(const StepTimeline& timeline, double slowdown) : timeline_(timeline), slowdown_(slowdown) {}

  /// The rank's passes take `late` times as long as those of the timeline.
  void begin_step(double late);
  /// \pre idle. `stretch` outlives its run.
  void begin(const ComputeStretch& stretch, double now);
  bool idle() const { return stretch_ == nullptr; }
  const ComputeStretch& stretch() const { return *stretch_; }  ///< \pre not idle
  double ended_at() const { return ended_at_; }                ///< of the last stretch
  int gradients() const { return gradients_; }                 ///< ready so far
  double late() const { return late_; }
  /// The slowest rank's passes that have ended, undisturbed.
  double passes() const { return passes_; }
  /// Of the updates that have ended.
  Seconds updates() const { return updates_; }
  /// The time for which communication has slowed what has ended.
  double slowed() const { return slowed_; }
  /// The time for which the stream waited between stretches.
  double waited() const { return waited_; }
  const std::vector<Ran>& ran() const { return ran_; }

  /// When the next gradient is ready or the stretch ends, if nothing changes until then.
  double next(double now, bool beside_communication) const;
  void pass(double duration, bool beside_communication) {
    if (!idle()) done_work_ += duration / pace(beside_communication);
  }
  /// Handles what `next` announced: another gradient is ready, or the stretch has ended. Returns the latter.
  bool advance(double now);

 private:
  bool next_is_gradient() const {
    return stretch_->has_gradients && static_cast<std::size_t>(gradients_) < timeline_.gradients.size();
  }
  double late_passes() const { return stretch_->passes.value * late_; }
  double work() const { return late_passes() + stretch_->update.value; }
  double pace(bool beside_communication) const {
    return beside_communication && done_work_ < work() ? 1 + slowdown_ : 1;
  }
  void note_run(double now);

  const StepTimeline& timeline_;
  double slowdown_, late_ = 1;
  const ComputeStretch* stretch_ = nullptr;
  double begun_at_ = 0;
  double done_work_ = 0;  ///< undisturbed seconds of the stretch
  double ended_at_ = 0;
  double passes_ = 0, slowed_ = 0, waited_ = 0;
  Seconds updates_;
  int gradients_ = 0;
  std::vector<Ran> ran_;
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
  /// collective has ended at `exchanged`, `update` before the step itself. What communication slows is the backward
  /// pass: there it is in flight.
  void add_compute(const ComputeClock& compute, double exchanged, double update);
  /// Adds the compute of one rank, as it was.
  void add_rank(const ComputeClock& compute, Rank rank, double exchanged, double update) {
    add_rank(compute, rank, exchanged, update, false);
  }

 private:
  /// \param early as one that takes no longer than the timeline
  void add_rank(const ComputeClock& compute, Rank rank, double exchanged, double update, bool early);

  std::vector<Span>* spans_;
};

/// What a bucket costs on the host before it leaves, and the threads of the framework that have to do it.
class HostCosts {
 public:
  /// \pre the profile outlives it.
  HostCosts(const Profile& profile, const TrainingStrategy& strategy, int workers, double network_factor, End end);

  void begin() { negotiated_ = free_ = 0; }
  struct Departure {
    double at;      ///< when the host is done with it
    double coding;  ///< the time of packing and coding on the device
  };
  /// A bucket of some tensors that the policy lets go at `now`; gradients are coded by the compressor.
  Departure leave(double now, std::int64_t elements, std::size_t tensors, bool coded);
  /// The coordinator is one thread: the next cycle begins when it has notified everyone of the last one.
  double negotiated() const { return negotiated_; }
  /// Seconds of each step that nothing hides.
  double per_step() const { return per_step_; }
  /// Share of its rate at which communication proceeds beside compute.
  double overlap() const { return overlap_; }

 private:
  const Profile& profile_;
  double negotiation_;
  double per_bucket_, overlap_, per_step_;
  double coding_per_byte_ = 0, coding_per_tensor_ = 0;
  double negotiated_ = 0;  ///< when the coordinator is free again
  double free_ = 0;        ///< when the framework's thread is
};

/// The buckets in flight: one after the other on a stream, or, of concurrent algorithms, together on the network. What
/// stays within nodes has a stream of its own beside that of what leaves them, since it has links of its own.
class InFlight {
 public:
  /// All outlive it.
  InFlight(Network& network, ConcurrentPlans& plans, const StepTimeline& timeline, const TrainingStrategy& strategy,
           SpanWriter& spans);

  void begin();
  /// When the next one may arrive, or come further; `kNever` where there is none.
  double next(double now) const;
  /// Adds one that others of its stream wait for: it begins at `ready` at the soonest. \param packing of the duration
  void queue(int bucket, double ready, double duration, double packing, bool within_nodes) {
    streams_[within_nodes ? 1 : 0].queue.push_back({ready, duration, packing, bucket});
  }
  /// Adds one of a concurrent algorithm. \pre buckets are added in order
  /// Returns the bytes that it sends, by the number of workers.
  Moved fly(const Bucket& bucket, std::int64_t elements, double start);
  /// Handles what `next` announced. Returns the number of the bucket that has arrived with it, if one has.
  std::optional<int> advance(double now);

 private:
  /// A bucket on the one stream.
  struct Queued {
    double ready;
    double duration;
    double packing;
    int bucket;
  };
  struct Stream {
    std::deque<Queued> queue;
    double free_at = 0;
    double next() const {
      return queue.empty() ? kNever : std::max(queue.front().ready, free_at) + queue.front().duration;
    }
  };
  void add_spans(const Queued& queued, double now);

  Network& network_;
  ConcurrentPlans& plans_;
  const TrainingStrategy& strategy_;
  SpanWriter& spans_;
  std::vector<std::vector<Shard>> shards_;  ///< by tensor; none without servers
  std::array<Stream, 2> streams_;           ///< of what leaves nodes, and of what does not
  std::optional<ConcurrentCollectives> concurrent_;
  std::vector<double> departed_;  ///< by concurrent bucket
};

}  // namespace hbench
