#include "collectives/cuda/cuda_device.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/error.hpp"
#include "collectives/cuda/codecs.hpp"

namespace hbench::cuda {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

/// Free and all bytes of the current GPU.
struct GpuMemory {
  std::size_t free = 0;
  std::size_t total = 0;
};

GpuMemory memory_of_gpu() {
  GpuMemory memory;
  succeed(cudaMemGetInfo(&memory.free, &memory.total), "asking for free GPU memory");
  return memory;
}

[[noreturn]] void refuse_memory(int gpu, std::size_t bytes) {
  cudaGetLastError();
  const auto [free, total] = memory_of_gpu();
  throw Error(ExitCode::environment,
              fmt::format("GPU {} is out of memory: {:.1f} MiB were asked for, {:.1f} of {:.1f} MiB are free", gpu,
                          static_cast<double>(bytes) / kMebibyte, static_cast<double>(free) / kMebibyte,
                          static_cast<double>(total) / kMebibyte),
              "use smaller buffers or fewer ranks per GPU; `nvidia-smi` shows which processes hold memory");
}

cudaMemPool_t pool_of(int gpu) {
  cudaMemPool_t pool = nullptr;
  succeed(cudaDeviceGetDefaultMemPool(&pool, gpu), "asking for a GPU's memory pool");
  return pool;
}

/// Lets kernels of `gpu` use the memory of `peer`.
void reach(int gpu, int peer) {
  int can = 0;
  succeed(cudaDeviceCanAccessPeer(&can, gpu, peer), "asking for peer access between GPUs");
  if (can == 0)
    throw Error(ExitCode::environment, fmt::format("GPU {} cannot reach the memory of GPU {}", gpu, peer),
                "use the executor nccl or nccl-p2p, or one GPU; `nvidia-smi topo -p2p r` shows which reach which");
  succeed(cudaSetDevice(gpu), "using a GPU");
  const cudaError_t code = cudaDeviceEnablePeerAccess(peer, 0);
  if (code == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();
  else
    succeed(code, fmt::format("letting GPU {} reach the memory of GPU {}", gpu, peer));
  cudaMemAccessDesc access{};
  access.location = {.type = cudaMemLocationTypeDevice, .id = gpu};
  access.flags = cudaMemAccessFlagsProtReadWrite;
  succeed(cudaMemPoolSetAccess(pool_of(peer), &access, 1), fmt::format("letting GPU {} reach a GPU's memory", gpu));
}

}  // namespace

CudaDevice::CudaDevice(int gpu, bool default_stream)
    : gpu_(gpu), events_(std::make_shared<EventPool>(false)), timed_events_(std::make_shared<EventPool>(true)) {
  make_current();
  succeed(cudaDeviceGetAttribute(&queue_.multiprocessors, cudaDevAttrMultiProcessorCount, gpu_), "asking for a GPU");
  pool_ = pool_of(gpu_);
  std::uint64_t keep = UINT64_MAX;
  succeed(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep), "keeping a GPU's memory");
  if (default_stream) return;
  succeed(cudaStreamCreateWithFlags(&queue_.stream, cudaStreamNonBlocking), "making a CUDA stream");
  stream_ = {queue_.stream, [](cudaStream_t stream) { cudaStreamDestroy(stream); }};
}

CudaDevice::CudaDevice(int gpu, std::shared_ptr<ShareableMemory> memory) : CudaDevice(gpu, false) {
  shareable_ = std::move(memory);
}

// What failed was reported by the call that failed.
CudaDevice::~CudaDevice() {
  cudaSetDevice(gpu_);
  cudaStreamSynchronize(queue_.stream);
  release_unused();
}

void CudaDevice::release_unused() { cudaMemPoolTrimTo(pool_, 0); }

void CudaDevice::make_current() const { succeed(cudaSetDevice(gpu_), "using a GPU"); }

void CudaDevice::synchronise(std::string_view what) { succeed(cudaStreamSynchronize(queue_.stream), what); }

const Queue& CudaDevice::queue() {
  make_current();
  return queue_;
}

DeviceMemory CudaDevice::allocate(std::size_t bytes) {
  make_current();
  if (shareable_ != nullptr) {
    DeviceMemory memory = shareable_->allocate(bytes);
    if (memory == nullptr) refuse_memory(gpu_, bytes);
    return memory;
  }
  void* address = nullptr;
  const cudaError_t code = cudaMallocFromPoolAsync(&address, std::max<std::size_t>(bytes, 1), pool_, queue_.stream);
  // More than any GPU has may be an invalid value instead.
  if (code == cudaErrorMemoryAllocation || (code == cudaErrorInvalidValue && bytes > memory_of_gpu().total)) {
    release_unused();
    refuse_memory(gpu_, bytes);
  }
  succeed(code, "allocating GPU memory");
  return {static_cast<std::byte*>(address), [gpu = gpu_, stream = stream_](std::byte* at) {
            cudaSetDevice(gpu);
            cudaFreeAsync(at, stream.get());
          }};
}

void CudaDevice::accumulate(DataType type, ReduceOp op, std::span<const std::byte> in, std::span<std::byte> inout) {
  cuda::accumulate(queue(), type, op, in, inout);
}

void CudaDevice::fill_neutral(DataType type, ReduceOp op, std::span<std::byte> buffer) {
  cuda::fill_neutral(queue(), type, op, buffer);
}

void CudaDevice::finish(DataType type, ReduceOp op, int workers, std::span<std::byte> buffer) {
  cuda::finish(queue(), type, op, workers, buffer);
}

void CudaDevice::keep_rest(std::span<const float> whole, std::span<float> part) {
  cuda::keep_rest(queue(), whole, part);
}

void CudaDevice::change(const NumbersChange& by, std::span<float> numbers) { cuda::change(queue(), by, numbers); }

std::shared_ptr<const Codec> CudaDevice::codec_of(const CompressorChoice& choice) {
  const CudaCodec* const entry = find_cuda_codec(choice.compressor->name);
  return entry == nullptr ? nullptr : entry->make(*this, choice);
}

std::unique_ptr<LowRankProducts> CudaDevice::low_rank_products() { return make_cuda_low_rank_products(*this); }

void CudaDevice::copy(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.empty()) return;
  succeed(cudaMemcpyAsync(to.data(), from.data(), from.size(), cudaMemcpyDefault, queue().stream),
          "copying GPU memory");
}

void CudaDevice::write(std::span<const std::byte> host, std::span<std::byte> to) {
  if (!host.empty())
    succeed(cudaMemcpyAsync(to.data(), host.data(), host.size(), cudaMemcpyHostToDevice, queue().stream),
            "copying to the GPU");
  synchronise("copying to the GPU");
}

void CudaDevice::read(std::span<const std::byte> from, std::span<std::byte> host) {
  if (!from.empty())
    succeed(cudaMemcpyAsync(host.data(), from.data(), from.size(), cudaMemcpyDeviceToHost, queue().stream),
            "copying from the GPU");
  synchronise("copying from the GPU");
}

std::unique_ptr<Packing> CudaDevice::packing(std::span<const std::span<std::byte>> parts) {
  return make_packing(*this, parts);
}

Event CudaDevice::record_event() { return record_event(events_); }

Event CudaDevice::record_timed_event() { return record_event(timed_events_); }

Seconds CudaDevice::elapsed(const Event& begin, const Event& end) {
  const auto event_of = [](const Event& event) { return static_cast<const CudaEvent&>(*event).event(); };
  make_current();
  succeed(cudaEventSynchronize(event_of(end)), "working on the GPU");
  float milliseconds = 0;
  succeed(cudaEventElapsedTime(&milliseconds, event_of(begin), event_of(end)), "timing work on the GPU");
  return Seconds(1e-3 * static_cast<double>(milliseconds));
}

Event CudaDevice::record_event(const std::shared_ptr<EventPool>& events) {
  make_current();
  auto event = std::make_shared<CudaEvent>(events);
  succeed(cudaEventRecord(event->event(), queue_.stream), "recording an event on the GPU");
  return event;
}

void CudaDevice::wait(const Event& event) {
  if (event == nullptr) return;
  make_current();
  succeed(cudaStreamWaitEvent(queue_.stream, static_cast<const CudaEvent&>(*event).event(), 0),
          "waiting for work on the GPU");
}

bool CudaDevice::query(const Event& event) {
  if (event == nullptr) return true;
  make_current();  // a thread's first call makes a context on the GPU that is current
  const cudaError_t code = cudaEventQuery(static_cast<const CudaEvent&>(*event).event());
  if (code == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  succeed(code, "working on the GPU");
  return true;
}

void join_gpus(int gpus) {
  for (int gpu = 0; gpu < gpus; ++gpu)
    for (int peer = 0; peer < gpus; ++peer)
      if (peer != gpu) reach(gpu, peer);
}

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
