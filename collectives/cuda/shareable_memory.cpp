#include "collectives/cuda/shareable_memory.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "collectives/base/error.hpp"
#include "collectives/cuda/launching_device.hpp"

namespace hbench::cuda {
namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(MemoryHandle::name));

/// Sizes are rounded up, so that what is given back fits more often.
constexpr std::size_t kGranule = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes) {
  return std::max<std::size_t>((bytes + kGranule - 1) / kGranule, 1) * kGranule;
}

}  // namespace

ShareableMemory::~ShareableMemory() {
  cudaSetDevice(gpu_);
  for (const auto& [name, address] : opened_) cudaIpcCloseMemHandle(const_cast<std::byte*>(address));
  for (const auto& [address, size] : sizes_)
    if (!names_.contains(address)) cudaFree(const_cast<std::byte*>(address));
}

DeviceMemory ShareableMemory::allocate(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  const auto owned = [self = shared_from_this()](std::byte* memory) { self->give_back(memory); };
  const std::lock_guard lock(mutex_);
  if (const auto found = free_.find(size); found != free_.end()) {
    std::byte* const memory = found->second;
    free_.erase(found);
    return {memory, owned};
  }
  void* address = nullptr;
  succeed(cudaSetDevice(gpu_), "using a GPU");
  const cudaError_t code = cudaMalloc(&address, size);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  succeed(code, "allocating GPU memory");
  sizes_[static_cast<std::byte*>(address)] = size;
  return {static_cast<std::byte*>(address), owned};
}

void ShareableMemory::give_back(std::byte* memory) {
  const std::lock_guard lock(mutex_);
  free_.emplace(sizes_.at(memory), memory);
}

MemoryHandle ShareableMemory::handle_of(std::span<const std::byte> memory) {
  const std::lock_guard lock(mutex_);
  auto found = sizes_.upper_bound(memory.data());
  if (found == sizes_.begin() || memory.data() + memory.size() > std::prev(found)->first + std::prev(found)->second)
    throw Error(ExitCode::internal, "memory that is to be read by another process was not allocated for that");
  const std::byte* const base = std::prev(found)->first;
  auto known = names_.find(base);
  if (known == names_.end()) {
    cudaIpcMemHandle_t name;
    succeed(cudaIpcGetMemHandle(&name, const_cast<std::byte*>(base)), "naming GPU memory for another process");
    known = names_.emplace(base, MemoryHandle{}).first;
    std::memcpy(known->second.name.data(), &name, sizeof name);
  }
  MemoryHandle handle = known->second;
  handle.offset = static_cast<std::uint64_t>(memory.data() - base);
  return handle;
}

const std::byte* ShareableMemory::open(const MemoryHandle& handle) {
  // The kernels that read it run on this GPU, whichever the thread has used last.
  succeed(cudaSetDevice(gpu_), "using a GPU");
  const auto [known, is_new] = opened_.try_emplace(handle.name, nullptr);
  if (is_new) {
    cudaIpcMemHandle_t name;
    std::memcpy(&name, handle.name.data(), sizeof name);
    void* address = nullptr;
    const cudaError_t code = cudaIpcOpenMemHandle(&address, name, cudaIpcMemLazyEnablePeerAccess);
    if (code != cudaSuccess) opened_.erase(known);
    succeed(code, "opening another process's GPU memory");
    known->second = static_cast<const std::byte*>(address);
  }
  return known->second + handle.offset;
}

}  // namespace hbench::cuda
