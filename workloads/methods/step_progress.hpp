#pragma once

/// How far an iteration has come: walks a step plan by the facts that its driver reports, and returns what may begin.
///
/// The simulator drives one for all ranks, which are alike; rank 0 of a training job drives one for all workers, whose
/// gradients it counts. It has no clock, memory or transport.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/fusion/departures.hpp"
#include "collectives/fusion/fusion.hpp"
#include "workloads/methods/step_plan.hpp"

namespace hbench {

/// A task that may begin; of a collective one bucket, which leaves now.
struct Start {
  int task = 0;
  std::optional<Bucket> bucket;
};

/// Not thread-safe. Times are seconds since the iteration began and never decrease; what a member returns begins in
/// that order.
class StepProgress {
 public:
  /// Each collective of the plan has a fusion policy of its own, for tensors of these sizes in bytes, but for those of
  /// units and an all-gather of what was scattered.
  StepProgress(StepPlan plan, const FusionChoice& fusion, std::vector<std::int64_t> tensor_bytes);
  ~StepProgress();
  StepProgress(StepProgress&&) noexcept;

  const StepPlan& plan() const { return plan_; }
  int tensors() const { return static_cast<int>(tensor_bytes_.size()); }

  /// \pre the last iteration has ended, or there was none. Iterations follow each other while a collective of one goes
  /// on beside the next (`Task::lag`).
  std::vector<Start> begin(int iteration);
  /// A backward task has made another gradient.
  std::vector<Start> tensor_done(int task, int tensor, Seconds at);
  /// A task that computes is done. \pre all its tensors are.
  std::vector<Start> task_done(int task, Seconds at);
  /// Another bucket of a collective has arrived everywhere.
  std::vector<Start> bucket_done(int task, Seconds at);
  /// The time has come at which a policy wakes up.
  std::vector<Start> timer(Seconds at);
  /// When a policy wants `timer`; none where all wait for other facts.
  std::optional<Seconds> wakeup() const;

  /// All of every collective has left.
  bool all_launched() const;
  /// Tensors are ready that have not left.
  bool holds_ready() const;
  bool is_done(int task) const;
  /// A task of this iteration that computes waits for nothing any more.
  bool may_begin(int task) const { return !is_done(task) && met(task); }
  /// All tasks of this iteration are done.
  bool ended() const;

 private:
  struct Exchange;
  /// Another task that comes after one.
  struct Follower {
    int task = 0;
    bool by_tensor = false;
  };
  bool met(int task) const;
  void finish(int task, Seconds at, std::vector<Start>& starts);
  void release(int task, Seconds at, std::vector<Start>& starts);
  void ready(int task, int tensor, Seconds at, std::vector<Start>& starts);
  void all_ready(int task, Seconds at, std::vector<Start>& starts);
  void deliver(int task, const FusionEvent& event, std::vector<Start>& starts);
  std::vector<Bucket> buckets_of(int task, const FusionEvent& event) const;
  Exchange* exchange(int task) const { return exchanges_[static_cast<std::size_t>(task)].get(); }

  StepPlan plan_;
  std::vector<std::int64_t> tensor_bytes_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;  ///< by task; null for those that compute
  std::vector<std::vector<Follower>> followers_;      ///< by task, in order
  std::vector<int> with_policy_;                      ///< collectives that have one
  std::vector<bool> done_;  ///< by task; those of other iterations are, but for a collective that goes on
  int iteration_ = 0;
  int not_done_ = 0;  ///< of those that end in the iteration
};

}  // namespace hbench
