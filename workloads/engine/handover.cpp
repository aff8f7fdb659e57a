#include "workloads/engine/handover.hpp"

#include <utility>

namespace hbench {

// The doorbell is rung after the lock is released: a thread that it wakes on this core would only wait for the lock.

void Handover::begin_step(const StepBegin& begin) {
  {
    const std::scoped_lock lock(mutex_);
    begun_ = begin;
    collectives_.clear();
    end_.reset();
    computed_ = false;
  }
  doorbell_.ring();
}

void Handover::announce(int task, int tensor, Event ready) {
  {
    const std::scoped_lock lock(mutex_);
    announced_.push_back({task, tensor, std::move(ready)});
  }
  doorbell_.ring();
}

void Handover::end_compute() {
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(computed_, true)) return;  // it has been rung for
  }
  doorbell_.ring();
}

CollectiveEnd Handover::wait_for(int task) {
  end_compute();
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return collectives_.contains(task) || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  computed_ = false;
  return std::move(collectives_[task]);
}

StepEnd Handover::wait_for_step_end() {
  end_compute();
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [&] { return end_ || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  return *end_;
}

void Handover::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  doorbell_.ring();
}

std::optional<StepBegin> Handover::wait_for_step() {
  while (true) {
    const Doorbell::Ticket ticket = doorbell_.listen();
    {
      const std::scoped_lock lock(mutex_);
      if (closed_) return std::nullopt;
      if (begun_) return std::exchange(begun_, std::nullopt);
    }
    doorbell_.wait(ticket, Doorbell::kForever);
  }
}

Announced Handover::take(Device& device) {
  const std::scoped_lock lock(mutex_);
  Announced taken;
  if (!announced_.empty()) taken.task = announced_.front().task;
  for (; !announced_.empty() && announced_.front().task == taken.task && device.query(announced_.front().ready);
       announced_.pop_front())
    taken.ready.push_back(announced_.front().tensor);
  taken.pending = !announced_.empty();
  taken.computed = computed_;
  taken.closed = closed_;
  return taken;
}

void Handover::end_collective(int task, CollectiveEnd end) {
  const std::scoped_lock lock(mutex_);
  collectives_[task] = std::move(end);
  ended_.notify_one();
}

void Handover::end_step(const StepEnd& end) {
  const std::scoped_lock lock(mutex_);
  end_ = end;
  ended_.notify_one();
}

void Handover::fail(std::exception_ptr failure) {
  const std::scoped_lock lock(mutex_);
  failure_ = std::move(failure);
  ended_.notify_one();
}

}  // namespace hbench
