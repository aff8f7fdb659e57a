#pragma once

/// A GPU's memory and one stream of work on it, as a `Device`.

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "collectives/cuda/launching_device.hpp"
#include "collectives/cuda/shareable_memory.hpp"
#include "collectives/device/device.hpp"

namespace hbench::cuda {

/// Events of one GPU that nobody uses: creating one is slow, and a step records thousands. Any thread may give one
/// back.
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

/// A stream of its own waits for no other (non-blocking). Memory is allocated and freed in the stream's order, so that
/// neither stops the GPU. Every call makes its GPU the thread's current one.
class CudaDevice final : public LaunchingDevice {
 public:
  /// \pre `gpu` is there. \throws Error (environment)
  /// With a stream of its own, or on the GPU's default stream.
  CudaDevice(int gpu, bool default_stream);
  /// With a stream of its own, and memory that other processes can open.
  CudaDevice(int gpu, std::shared_ptr<ShareableMemory> memory);
  ~CudaDevice() override;

  DeviceMemory allocate(std::size_t bytes) override;
  void accumulate(DataType type, ReduceOp op, std::span<const std::byte> in, std::span<std::byte> inout) override;
  void fill_neutral(DataType type, ReduceOp op, std::span<std::byte> buffer) override;
  void finish(DataType type, ReduceOp op, int workers, std::span<std::byte> buffer) override;
  void keep_rest(std::span<const float> whole, std::span<float> part) override;
  void change(const NumbersChange& by, std::span<float> numbers) override;
  std::shared_ptr<const Codec> codec_of(const CompressorChoice& choice) override;
  std::unique_ptr<LowRankProducts> low_rank_products() override;
  void copy(std::span<const std::byte> from, std::span<std::byte> to) override;
  void write(std::span<const std::byte> host, std::span<std::byte> to) override;
  void read(std::span<const std::byte> from, std::span<std::byte> host) override;
  std::unique_ptr<Packing> packing(std::span<const std::span<std::byte>> parts) override;
  Event record_event() override;
  Event record_timed_event() override;
  Seconds elapsed(const Event& begin, const Event& end) override;
  void wait(const Event& event) override;
  bool query(const Event& event) override;

  const Queue& queue() override;
  int gpu() const { return gpu_; }

 private:
  void make_current() const;
  void synchronise(std::string_view what);
  /// Gives memory that was freed back to the GPU, where LibTorch and NCCL, which have allocators of their own, get it.
  void release_unused();
  Event record_event(const std::shared_ptr<EventPool>& events);

  int gpu_;
  std::shared_ptr<CUstream_st> stream_;  ///< memory from it may live longer than this
  Queue queue_;
  cudaMemPool_t pool_ = nullptr;
  std::shared_ptr<ShareableMemory> shareable_;  ///< where memory comes from instead
  std::shared_ptr<EventPool> events_, timed_events_;
};

/// Does what hbench::join_gpus does. \pre there are at least `gpus` GPUs
void join_gpus(int gpus);

}  // namespace hbench::cuda
