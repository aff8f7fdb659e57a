#include "workloads/engine/coordinator.hpp"

#include <algorithm>
#include <stdexcept>

namespace hbench {

std::vector<int> announced_tasks(const StepPlan& plan, int iteration) {
  std::vector<int> tasks;
  for (const Task& task : plan.tasks) {
    if (task.computes() || !task.is_in(iteration)) continue;
    for (const After& after : task.after)
      if (plan.task(after.task).computes()) tasks.push_back(after.task);
  }
  std::ranges::sort(tasks);
  tasks.erase(std::ranges::unique(tasks).begin(), tasks.end());
  return tasks;
}

Coordinator::Votes::Votes(int done, int workers, int all, int of)
    : task(done),
      tensors(of),
      count(static_cast<std::size_t>(all)),
      seen(static_cast<std::size_t>(workers), std::vector<bool>(static_cast<std::size_t>(all))),
      missing(static_cast<std::size_t>(workers), of) {}

Coordinator::Coordinator(StepProgress progress, int workers) : progress_(std::move(progress)), workers_(workers) {}

std::vector<LeavingBucket> Coordinator::begin_step(int iteration) {
  votes_.clear();
  for (const int task : announced_tasks(progress_.plan(), iteration))
    votes_.emplace_back(task, workers_, progress_.tensors(),
                        static_cast<int>(progress_.plan().tensors_of(task, progress_.tensors()).size()));
  std::vector<LeavingBucket> buckets;
  release(progress_.begin(iteration), buckets);
  return buckets;
}

std::vector<LeavingBucket> Coordinator::announced(int worker, int task, std::span<const std::int32_t> tensors,
                                                  Seconds at) {
  // Nobody wakes for timers while the policies hold nothing: those that were due before come before these tensors.
  std::vector<LeavingBucket> buckets = tick(at);
  const auto found = std::ranges::find(votes_, task, &Votes::task);
  if (found == votes_.end()) throw std::logic_error("a task was announced that nothing waits for");
  Votes& votes = *found;
  const auto from = static_cast<std::size_t>(worker);
  for (const std::int32_t tensor : tensors) {
    const auto index = static_cast<std::size_t>(tensor);
    if (votes.seen.at(from).at(index)) throw std::logic_error("a tensor was announced twice in one iteration");
    votes.seen[from][index] = true;
    --votes.missing[from];
    if (++votes.count[index] < workers_) continue;
    ++votes.ready;
    release(progress_.tensor_done(task, tensor, at), buckets);
    if (votes.complete()) end_compute(task, at, buckets);
  }
  return buckets;
}

std::vector<LeavingBucket> Coordinator::bucket_done(int task, Seconds at) {
  std::vector<LeavingBucket> buckets;
  release(progress_.bucket_done(task, at), buckets);
  return buckets;
}

std::vector<LeavingBucket> Coordinator::tick(Seconds at) {
  std::vector<LeavingBucket> buckets;
  while (!all_launched()) {
    const std::optional<Seconds> due = progress_.wakeup();
    if (!due || *due > at) break;
    release(progress_.timer(at), buckets);
    // A policy that stays due would keep us here for ever.
    if (progress_.wakeup() <= due) break;
  }
  return buckets;
}

std::optional<Seconds> Coordinator::wakeup() const {
  return progress_.holds_ready() ? progress_.wakeup() : std::nullopt;
}

bool Coordinator::stuck(int buckets_in_flight) const {
  return open() == nullptr && !all_launched() && buckets_in_flight == 0 && !progress_.wakeup();
}

bool Coordinator::waits_for_others(int worker) const {
  const Votes* const votes = open();
  return votes != nullptr && votes->tensors - missing(worker) > votes->ready;
}

int Coordinator::missing(int worker) const {
  const Votes* const votes = open();
  return votes == nullptr ? 0 : votes->missing[static_cast<std::size_t>(worker)];
}

int Coordinator::to_come(int worker) const {
  int all = 0;
  for (const Votes& votes : votes_) all += votes.missing[static_cast<std::size_t>(worker)];
  return all;
}

/// The first task that not all workers have announced; null where there is none.
const Coordinator::Votes* Coordinator::open() const {
  const auto found = std::ranges::find_if_not(votes_, &Votes::complete);
  return found == votes_.end() ? nullptr : &*found;
}

/// `task` is done on all workers, and so is all that they compute before it, as far as others wait for them.
void Coordinator::end_compute(int task, Seconds at, std::vector<LeavingBucket>& out) {
  for (int before = 0; before <= task; ++before)
    if (progress_.plan().task(before).computes() && !progress_.is_done(before))
      release(progress_.task_done(before, at), out);
}

void Coordinator::release(std::vector<Start> starts, std::vector<LeavingBucket>& out) const {
  for (Start& start : starts) {
    if (!start.bucket) continue;
    // Neighbours in this order are exchanged where they lie, and a set of tensors is a shorter message than a list.
    std::ranges::sort(start.bucket->tensors);
    out.push_back({start.task, std::move(*start.bucket)});
  }
}

}  // namespace hbench
