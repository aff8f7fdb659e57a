#include "collectives/cuda/events.hpp"

#include "collectives/cuda/check.hpp"

namespace hbench::cuda {

EventPool::~EventPool() {
  for (cudaEvent_t event : free_) cudaEventDestroy(event);
}

cudaEvent_t EventPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      cudaEvent_t event = free_.back();
      free_.pop_back();
      return event;
    }
  }
  cudaEvent_t event = nullptr;
  succeed(cudaEventCreateWithFlags(&event, timed_ ? cudaEventDefault : cudaEventDisableTiming), "making a CUDA event");
  return event;
}

void EventPool::give_back(cudaEvent_t event) {
  const std::lock_guard lock(mutex_);
  free_.push_back(event);
}

}  // namespace hbench::cuda
