#pragma once

/// One rank in virtual time: walks its iterations of a plan by the events of its own compute and of its buckets,
/// whoever carries them. It stands for all ranks where these are alike.

#include <optional>
#include <vector>

#include "workloads/methods/step_progress.hpp"
#include "workloads/simulation/step_parts.hpp"
#include "workloads/simulation/step_times.hpp"

namespace hbench {

/// A bucket that leaves a rank.
struct LaunchedBucket {
  int number = 0;  ///< in its iteration, from 0
  int task = 0;    ///< of the plan
  Bucket bucket;
  std::int64_t elements = 0;  ///< numbers of 4 bytes that travel
  HostCosts::Departure departure;
};

class RankWalk;

/// Carries the buckets of a rank, and says when they have arrived.
class Carrier {
 public:
  virtual void carry(RankWalk& rank, const LaunchedBucket& leaving) = 0;

 protected:
  ~Carrier() = default;
};

/// Not thread-safe. Times are seconds since the iteration began. Its driver asks for the events that are next, moves to
/// the first of them, and handles it.
class RankWalk {
 public:
  /// What it walks through.
  struct Request {
    const Profile& profile;
    const StepTimeline& timeline;
    const TrainingStrategy& strategy;
    World world;
    double network_factor = 1;
    End end = End::stated;
    std::vector<Span>* spans = nullptr;  ///< of the last iteration, where anybody asks for them
    std::optional<Rank> rank = {};       ///< none: it stands for all
  };
  /// What `request` refers to, and the carrier, outlive it.
  RankWalk(const Request& request, Carrier& carrier);

  const StepPlan& plan() const { return progress_.plan(); }
  Rank rank() const { return rank_.value_or(0); }
  SpanWriter& spans() { return spans_; }
  double now() const { return now_; }
  /// All tasks of the iteration are done.
  bool ended() const { return progress_.ended(); }

  /// Begins an iteration, and with it times. \param late the time of its passes, by that of the timeline \param more
  /// iterations follow it in the same times
  void begin(int iteration, double late, int more = 0);
  /// The next one of those follows. \pre the one before has ended
  void go_on();
  /// When the next gradient is ready, or a stretch of compute ends, if nothing changes until then.
  double next_compute() const { return compute_.next(now_, periods_.busy()); }
  /// When a fusion policy wakes up.
  double next_timer() const;
  /// \pre no event is before `time`.
  void move_to(double time);
  void compute_event();
  void timer_event();
  /// The bucket of this number has arrived.
  void arrived(int number);
  /// The iteration is over, or the last of those that followed each other: adds what the host costs, and what compute
  /// has slowed. Returns the times of all of them,
  /// and of one alone.
  StepTimes finish();

 private:
  static std::vector<std::int64_t> bytes_of(const StepTimeline& timeline);
  void gradient_ready(int tensor);
  void end_stretch(const ComputeStretch& stretch);
  /// Begins what the compute stream has next, once it is idle and the tasks before allow it.
  void begin_stretch();
  void follow(const std::vector<Start>& starts);
  void enter(int iteration);
  void launch(int task, const Bucket& bucket);
  std::int64_t elements_of(int task, const Bucket& bucket) const;

  const StepTimeline& timeline_;
  const TrainingStrategy& strategy_;
  std::optional<Rank> rank_;
  Carrier& carrier_;
  std::vector<std::int64_t> bytes_;  ///< by tensor
  StepProgress progress_;
  int workers_;
  std::vector<ComputeStretch> stretches_;  ///< of the iteration
  ComputeClock compute_;
  BusyPeriods periods_;
  SpanWriter spans_;
  HostCosts host_;

  double now_ = 0;
  int iteration_ = 0, more_ = 0;  ///< those that are to follow
  int iterations_ = 1;            ///< in these times
  int cycles_ = 0;                ///< of the policy, in this iteration
  Seconds tail_;                  ///< of the update that ends the iteration
  std::size_t next_stretch_ = 0;
  std::vector<int> task_of_;      ///< by bucket
  std::vector<double> ready_at_;  ///< by tensor
};

}  // namespace hbench
