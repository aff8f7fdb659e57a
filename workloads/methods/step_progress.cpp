#include "workloads/methods/step_progress.hpp"

#include <algorithm>

namespace hbench {

/// One collective of an iteration.
struct StepProgress::Exchange {
  Exchange(const Task& task, std::unique_ptr<FusionPolicy> with, const std::vector<std::int64_t>& tensor_bytes)
      : unit(task.unit), policy(std::move(with)), departures(tensor_bytes) {}

  int unit;                              ///< as `Task::unit`: of one, all is one bucket
  std::unique_ptr<FusionPolicy> policy;  ///< null: it leaves as its unit, or in the buckets of another
  std::vector<Bucket> left;              ///< in this iteration, in order
  Departures departures;
  int ready = 0, arrived = 0;  ///< tensors; buckets
  bool closed = false;         ///< all tensors are ready, and the policy knows

  bool of_unit() const { return unit != Task::kWhole; }
  bool all_left() const { return of_unit() ? !left.empty() : departures.complete(); }
  bool complete() const { return closed && all_left() && arrived == static_cast<int>(left.size()); }
};

StepProgress::StepProgress(StepPlan plan, const FusionChoice& fusion, std::vector<std::int64_t> tensor_bytes)
    : plan_(std::move(plan)),
      tensor_bytes_(std::move(tensor_bytes)),
      followers_(plan_.tasks.size()),
      done_(plan_.tasks.size(), true) {
  for (int index = 0; index < plan_.size(); ++index) {
    const Task& task = plan_.task(index);
    const bool has_policy = task.unit == Task::kWhole && scatter_of(plan_, index) < 0;
    for (const After& after : task.after)
      followers_[static_cast<std::size_t>(after.task)].push_back({index, after.by_tensor});
    if (!task.computes() && has_policy) with_policy_.push_back(index);
    exchanges_.push_back(task.computes() ? nullptr
                                         : std::make_unique<Exchange>(
                                               task, has_policy ? fusion.make(tensor_bytes_) : nullptr, tensor_bytes_));
  }
}

StepProgress::~StepProgress() = default;
StepProgress::StepProgress(StepProgress&&) noexcept = default;

std::vector<Start> StepProgress::begin(int iteration) {
  iteration_ = iteration;
  not_done_ = 0;
  std::vector<Start> starts;
  for (int task = 0; task < plan_.size(); ++task) {
    const bool begins = plan_.task(task).is_in(iteration);
    if (begins || plan_.task(task).lag == 0) done_[static_cast<std::size_t>(task)] = !begins;
    if (!is_done(task) && plan_.task(task).ends_in(iteration)) ++not_done_;
    if (Exchange* const each = begins ? exchange(task) : nullptr) {
      each->departures.begin_step();
      each->left.clear();
      each->ready = each->arrived = 0;
      each->closed = false;
      deliver(task, {FusionEventKind::step_begin, Seconds(0), 0}, starts);
    }
  }
  for (int task = 0; task < plan_.size(); ++task)
    if (!is_done(task) && plan_.task(task).is_in(iteration) && plan_.task(task).after.empty())
      release(task, Seconds(0), starts);
  return starts;
}

std::vector<Start> StepProgress::tensor_done(int task, int tensor, Seconds at) {
  std::vector<Start> starts;
  for (const Follower& next : followers_[static_cast<std::size_t>(task)])
    if (next.by_tensor && !is_done(next.task)) ready(next.task, tensor, at, starts);
  return starts;
}

std::vector<Start> StepProgress::task_done(int task, Seconds at) {
  std::vector<Start> starts;
  finish(task, at, starts);
  return starts;
}

std::vector<Start> StepProgress::bucket_done(int task, Seconds at) {
  std::vector<Start> starts;
  Exchange& each = *exchange(task);
  deliver(task, {FusionEventKind::bucket_done, at, ++each.arrived}, starts);
  if (each.complete()) finish(task, at, starts);
  return starts;
}

std::vector<Start> StepProgress::timer(Seconds at) {
  std::vector<Start> starts;
  for (const int task : with_policy_)
    if (!is_done(task)) deliver(task, {FusionEventKind::timer, at, 0}, starts);
  return starts;
}

std::optional<Seconds> StepProgress::wakeup() const {
  std::optional<Seconds> first;
  for (const int task : with_policy_) {
    if (is_done(task)) continue;
    const std::optional<Seconds> due = exchange(task)->policy->wakeup();
    if (due && (!first || *due < *first)) first = due;
  }
  return first;
}

bool StepProgress::all_launched() const {
  for (int task = 0; task < plan_.size(); ++task)
    if (exchange(task) != nullptr && !is_done(task) && !exchange(task)->all_left()) return false;
  return true;
}

bool StepProgress::holds_ready() const {
  for (int task = 0; task < plan_.size(); ++task)
    if (const Exchange* const each = exchange(task); each != nullptr && !is_done(task))
      if (each->ready > tensors() - each->departures.missing()) return true;
  return false;
}

bool StepProgress::is_done(int task) const { return done_[static_cast<std::size_t>(task)]; }

bool StepProgress::ended() const { return not_done_ == 0; }

/// Whether all that `task` follows as a whole is done.
bool StepProgress::met(int task) const {
  return std::ranges::all_of(plan_.task(task).after, [&](const After& after) { return is_done(after.task); });
}

void StepProgress::finish(int task, Seconds at, std::vector<Start>& starts) {
  done_[static_cast<std::size_t>(task)] = true;
  if (plan_.task(task).ends_in(iteration_)) --not_done_;
  for (const Follower& next : followers_[static_cast<std::size_t>(task)])
    if (!is_done(next.task) && met(next.task)) release(next.task, at, starts);
}

/// `task` waits for nothing any more.
void StepProgress::release(int task, Seconds at, std::vector<Start>& starts) {
  if (exchange(task) != nullptr)
    all_ready(task, at, starts);
  else
    starts.push_back({task, std::nullopt});
}

void StepProgress::ready(int task, int tensor, Seconds at, std::vector<Start>& starts) {
  ++exchange(task)->ready;
  deliver(task, {FusionEventKind::gradient_ready, at, tensor}, starts);
}

/// Those that did not become ready one by one do now.
void StepProgress::all_ready(int task, Seconds at, std::vector<Start>& starts) {
  if (exchange(task)->ready == 0 && !exchange(task)->of_unit())
    for (int tensor = 0; tensor < tensors(); ++tensor) ready(task, tensor, at, starts);
  exchange(task)->closed = true;
  deliver(task, {FusionEventKind::backward_done, at, 0}, starts);
  if (exchange(task)->complete()) finish(task, at, starts);
}

void StepProgress::deliver(int task, const FusionEvent& event, std::vector<Start>& starts) {
  Exchange& each = *exchange(task);
  for (Bucket& bucket : buckets_of(task, event)) {
    if (!each.of_unit()) each.departures.leave(bucket);
    each.left.push_back(bucket);
    starts.push_back({task, std::move(bucket)});
  }
}

std::vector<Bucket> StepProgress::buckets_of(int task, const FusionEvent& event) const {
  const Exchange& each = *exchange(task);
  if (each.policy != nullptr) return each.policy->on(event);
  if (event.kind != FusionEventKind::backward_done) return {};
  if (each.of_unit()) return {Bucket(plan_.units[static_cast<std::size_t>(each.unit)])};
  return exchange(scatter_of(plan_, task))->left;
}

}  // namespace hbench
