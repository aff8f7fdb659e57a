#include "workloads/engine/handover.hpp"

#include <thread>
#include <utility>

namespace hbench {
void Handover::begin_step(Clock::time_point at) {
  const std::scoped_lock lock(mutex_);
  begun_ = at;
  next_.reset();
  for_communication_.notify_one();
}

void Handover::announce(int tensor) {
  const std::scoped_lock lock(mutex_);
  announced_.push_back(tensor);
  for_communication_.notify_one();
}

Phase Handover::wait_for_step_end() {
  std::unique_lock lock(mutex_);
  compute_waits_ = true;
  for_communication_.notify_one();
  for_compute_.wait(lock, [&] { return next_ || failure_; });
  compute_waits_ = false;
  if (failure_) std::rethrow_exception(failure_);
  return *next_;
}

void Handover::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  for_communication_.notify_one();
}

std::optional<Handover::Clock::time_point> Handover::wait_for_step() {
  std::unique_lock lock(mutex_);
  for_communication_.wait(lock, [&] { return begun_ || closed_; });
  if (closed_) return std::nullopt;
  return std::exchange(begun_, std::nullopt);
}

std::vector<int> Handover::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(announced_, {});
}

bool Handover::rest(std::chrono::microseconds longest) {
  std::unique_lock lock(mutex_);
  if (compute_waits_ && !closed_) {
    lock.unlock();
    std::this_thread::yield();
    return true;
  }
  for_communication_.wait_for(lock, longest, [&] { return closed_ || compute_waits_ || !announced_.empty(); });
  return !closed_;
}

void Handover::end_step(Phase next) {
  const std::scoped_lock lock(mutex_);
  next_ = next;
  for_compute_.notify_one();
}

void Handover::fail(std::exception_ptr failure) {
  const std::scoped_lock lock(mutex_);
  failure_ = std::move(failure);
  for_compute_.notify_one();
}

}  // namespace hbench
