#include "workloads/engine/coordinator.hpp"

#include <algorithm>
#include <stdexcept>

namespace hbench {

namespace {

int first_of(const StepPlan& plan, TaskKind kind) {
  return static_cast<int>(std::ranges::find(plan.tasks, kind, &Task::kind) - plan.tasks.begin());
}

}  // namespace

Coordinator::Coordinator(StepProgress progress, int workers)
    : progress_(std::move(progress)),
      backward_(first_of(progress_.plan(), TaskKind::backward)),
      exchange_(first_of(progress_.plan(), TaskKind::collective)),
      workers_(workers) {}

std::vector<Bucket> Coordinator::begin_step() {
  const auto tensors = static_cast<std::size_t>(progress_.tensors());
  votes_.assign(tensors, 0);
  seen_.assign(static_cast<std::size_t>(workers_), std::vector<bool>(tensors));
  missing_.assign(static_cast<std::size_t>(workers_), progress_.tensors());
  ready_ = 0;
  std::vector<Bucket> buckets;
  release(progress_.begin(0), buckets);
  return buckets;
}

std::vector<Bucket> Coordinator::announced(int worker, std::span<const std::int32_t> tensors, Seconds at) {
  // Nobody wakes for timers while the policy holds nothing: those that were due before come before these gradients.
  std::vector<Bucket> buckets = tick(at);
  for (const std::int32_t tensor : tensors) {
    const auto index = static_cast<std::size_t>(tensor);
    if (seen_.at(static_cast<std::size_t>(worker)).at(index)) {
      throw std::logic_error("a gradient was announced twice in one step");
    }
    seen_[static_cast<std::size_t>(worker)][index] = true;
    --missing_[static_cast<std::size_t>(worker)];
    if (++votes_[index] < workers_) continue;
    ++ready_;
    release(progress_.tensor_done(backward_, tensor, at), buckets);
    if (ready_ == progress_.tensors()) end_compute(at, buckets);
  }
  return buckets;
}

std::vector<Bucket> Coordinator::bucket_done(Seconds at) {
  std::vector<Bucket> buckets;
  release(progress_.bucket_done(exchange_, at), buckets);
  return buckets;
}

std::vector<Bucket> Coordinator::tick(Seconds at) {
  std::vector<Bucket> buckets;
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
  return ready_ == progress_.tensors() && !all_launched() && buckets_in_flight == 0 && !progress_.wakeup();
}

/// All gradients of all workers are there: so their passes are done, as far as others wait for them.
void Coordinator::end_compute(Seconds at, std::vector<Bucket>& out) {
  for (int task = 0; task <= backward_; ++task) release(progress_.task_done(task, at), out);
}

void Coordinator::release(std::vector<Start> starts, std::vector<Bucket>& out) const {
  for (Start& start : starts) {
    if (!start.bucket) continue;
    // Neighbours in this order are reduced where they lie, and a set of tensors is a shorter message than a list.
    std::ranges::sort(start.bucket->tensors);
    out.push_back(std::move(*start.bucket));
  }
}

}  // namespace hbench
