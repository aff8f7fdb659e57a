#pragma once

/// CUDA events, reused: creating one is slow, and a step records thousands.

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <vector>

#include "collectives/device/device.hpp"

namespace hbench::cuda {

/// Events of one GPU that nobody uses. Any thread may give one back.
class EventPool {
 public:
  explicit EventPool(bool timed) : timed_(timed) {}
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;
  ~EventPool();

  /// On the current device, which is always the same. \throws Error (environment)
  cudaEvent_t take();
  void give_back(cudaEvent_t event);

 private:
  bool timed_;
  std::mutex mutex_;
  std::vector<cudaEvent_t> free_;
};

/// Returns its event to the pool with its last owner; work that was enqueued to wait for it still does.
class CudaEvent final : public DeviceEvent {
 public:
  explicit CudaEvent(std::shared_ptr<EventPool> pool) : pool_(std::move(pool)), event_(pool_->take()) {}
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() override { pool_->give_back(event_); }

  cudaEvent_t event() const { return event_; }

 private:
  std::shared_ptr<EventPool> pool_;
  cudaEvent_t event_;
};

}  // namespace hbench::cuda
