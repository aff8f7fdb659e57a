#include "workloads/engine/handover.hpp"

#include <thread>
#include <utility>

namespace hbench {
void Handover::begin_step(Clock::time_point at) {
  const std::scoped_lock lock(mutex_);
  begun_ = at;
  end_.reset();
  compute_rests_ = false;
  for_communication_.notify_one();
}

void Handover::announce(int tensor, Moment ready) {
  const std::scoped_lock lock(mutex_);
  announced_.push_back({tensor, std::move(ready)});
  news_ = true;
  for_communication_.notify_one();
}

void Handover::rest() {
  const std::scoped_lock lock(mutex_);
  compute_rests_ = true;
  for_communication_.notify_one();
}

StepEnd Handover::wait_for_step_end() {
  rest();
  std::unique_lock lock(mutex_);
  for_compute_.wait(lock, [&] { return end_ || failure_; });
  compute_rests_ = false;
  if (failure_) std::rethrow_exception(failure_);
  return *end_;
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

std::vector<int> Handover::take(Device& device) {
  const std::scoped_lock lock(mutex_);
  std::vector<int> ready;
  for (; !announced_.empty() && device.passed(announced_.front().ready); announced_.pop_front())
    ready.push_back(announced_.front().tensor);
  news_ = false;
  return ready;
}

bool Handover::rest(std::chrono::microseconds longest) {
  std::unique_lock lock(mutex_);
  if (compute_rests_ && !closed_) {
    lock.unlock();
    std::this_thread::yield();
    return true;
  }
  for_communication_.wait_for(lock, longest, [&] { return closed_ || compute_rests_ || news_; });
  return !closed_;
}

void Handover::end_step(const StepEnd& end) {
  const std::scoped_lock lock(mutex_);
  end_ = end;
  for_compute_.notify_one();
}

void Handover::fail(std::exception_ptr failure) {
  const std::scoped_lock lock(mutex_);
  failure_ = std::move(failure);
  for_compute_.notify_one();
}

}  // namespace hbench
