#include "workloads/engine/coordinator.hpp"

#include <algorithm>
#include <stdexcept>

namespace hbench {

Coordinator::Coordinator(std::unique_ptr<FusionPolicy> policy, std::vector<std::int64_t> tensor_bytes, int workers)
    : policy_(std::move(policy)),
      tensors_(static_cast<int>(tensor_bytes.size())),
      workers_(workers),
      launched_(std::move(tensor_bytes)) {}

std::vector<Bucket> Coordinator::begin_step() {
  votes_.assign(static_cast<std::size_t>(tensors_), 0);
  seen_.assign(static_cast<std::size_t>(workers_), std::vector<bool>(static_cast<std::size_t>(tensors_)));
  missing_.assign(static_cast<std::size_t>(workers_), tensors_);
  launched_.begin_step();
  ready_ = done_ = 0;
  std::vector<Bucket> buckets;
  deliver(FusionEventKind::step_begin, Seconds(0), 0, buckets);
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
    deliver(FusionEventKind::gradient_ready, at, tensor, buckets);
    if (ready_ == tensors_) deliver(FusionEventKind::backward_done, at, 0, buckets);
  }
  return buckets;
}

std::vector<Bucket> Coordinator::bucket_done(Seconds at) {
  std::vector<Bucket> buckets;
  deliver(FusionEventKind::bucket_done, at, ++done_, buckets);
  return buckets;
}

std::vector<Bucket> Coordinator::tick(Seconds at) {
  std::vector<Bucket> buckets;
  while (!all_launched()) {
    const std::optional<Seconds> due = policy_->wakeup();
    if (!due || *due > at) break;
    deliver(FusionEventKind::timer, at, 0, buckets);
    // A policy that stays due would keep us here for ever.
    if (policy_->wakeup() <= due) break;
  }
  return buckets;
}

std::optional<Seconds> Coordinator::wakeup() const {
  const int left = tensors_ - launched_.missing();
  return ready_ > left ? policy_->wakeup() : std::nullopt;
}

bool Coordinator::stuck(int buckets_in_flight) const {
  return ready_ == tensors_ && !all_launched() && buckets_in_flight == 0 && !policy_->wakeup();
}

void Coordinator::deliver(FusionEventKind kind, Seconds at, int index, std::vector<Bucket>& out) {
  for (Bucket& bucket : policy_->on({kind, at, index})) {
    launched_.leave(bucket);
    // Neighbours in this order are reduced where they lie, and a set of tensors is a shorter message than a list.
    std::ranges::sort(bucket.tensors);
    out.push_back(std::move(bucket));
  }
}

}  // namespace hbench
