#pragma once

/// Points in a stream's work, as events that are used again and again: to make one is slow, and steps need thousands.

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <vector>

#include "collectives/executors/device.hpp"

namespace hbench::cuda {

/// Events of one GPU. Any thread may give one back.
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

/// Gives its event back with its last owner; work that was told to wait for it still does so.
class CudaMoment final : public DeviceMoment {
 public:
  explicit CudaMoment(std::shared_ptr<EventPool> pool) : pool_(std::move(pool)), event_(pool_->take()) {}
  CudaMoment(const CudaMoment&) = delete;
  CudaMoment& operator=(const CudaMoment&) = delete;
  ~CudaMoment() override { pool_->give_back(event_); }

  cudaEvent_t event() const { return event_; }

 private:
  std::shared_ptr<EventPool> pool_;
  cudaEvent_t event_;
};

}  // namespace hbench::cuda
