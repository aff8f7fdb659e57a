// The functions of CUDA's runtime that are about memory: pools, allocations, copies and other processes' memory.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "tests/emulated_gpu/checker.hpp"
#include "tests/emulated_gpu/reports.hpp"
#include "tests/emulated_gpu/runtime.hpp"

using namespace hbench::emulated_gpu;  // NOLINT(google-build-using-namespace)

namespace {

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
bool is_on_device(const void* address) { return machine().arena.contains(number(address)); }

/// A device's only pool: its number, from a place where no pointers are.
constexpr std::uintptr_t kFirstPool = 0x1000;
cudaMemPool_t pool_of(int device) {
  return reinterpret_cast<cudaMemPool_t>(kFirstPool + static_cast<std::uintptr_t>(device));
}
int device_of(cudaMemPool_t pool) { return static_cast<int>(number(pool) - kFirstPool); }

/// Called by the worker, as an operation of a stream: whatever uses the memory must come before it.
void free_now(Allocation& memory) {
  const OperationId user = memory.shadow != nullptr ? memory.shadow->unordered_user() : 0;
  if (user != 0)
    report(Mistake::freed_in_use, fmt::format("memory at {:#x} is freed, and {}, operation {}, may use it",
                                              memory.begin, machine().operations.at(user).name, user));
  machine().arena.release(memory);
}

/// Marks an allocation as one that is to be freed; null, after a report, where it is none.
Allocation* taken_to_free(void* address, bool right_kind(Origin origin), const char* function) {
  Allocation* const found = machine().arena.beginning_at(address);
  if (found == nullptr || found->is_freeing || !right_kind(found->origin)) {
    report(Mistake::bad_free, fmt::format("{} of {}, which is no live allocation of its kind", function, address));
    return nullptr;
  }
  found->is_freeing = true;
  return found;
}

/// cudaFree and cudaIpcCloseMemHandle wait for the device.
cudaError_t free_on_idle_device(Allocation* memory) {
  if (memory == nullptr) return cudaErrorInvalidValue;
  Scheduler& scheduler = machine().scheduler;
  Stream& stream = *machine().default_streams[static_cast<std::size_t>(memory->device)];
  scheduler.synchronize_device(memory->device);
  scheduler.enqueue(stream, {.name = "freeing of memory"}, [memory] { free_now(*memory); });
  scheduler.synchronize(stream);
  return cudaSuccess;
}

/// The content of a cudaIpcMemHandle_t.
struct IpcName {
  char magic[8];
  pid_t process;
  int file;
  std::size_t size;
  int device;
};
constexpr char kMagic[8] = "emulate";

void copy_now(void* to, const void* from, std::size_t bytes) {
  const bool reads = !is_on_device(from) || check_copy({number(from), bytes, AccessKind::read});
  const bool writes = !is_on_device(to) || check_copy({number(to), bytes, AccessKind::write});
  if (reads && writes) std::memcpy(to, from, bytes);
}

bool is_direction(cudaMemcpyKind kind, bool from_device, bool to_device) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return !from_device && !to_device;
    case cudaMemcpyHostToDevice:
      return !from_device && to_device;
    case cudaMemcpyDeviceToHost:
      return from_device && !to_device;
    case cudaMemcpyDeviceToDevice:
      return from_device && to_device;
    case cudaMemcpyDefault:
      return true;
  }
  return false;
}

}  // namespace

extern "C" {

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&] {
    *total = Arena::kDeviceBytes;
    *free = *total - machine().arena.used(current_device());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* memPool, int device) {
  return call([&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    *memPool = pool_of(device);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr, void* value) {
  return call([&] {
    const bool is_right = is_device(device_of(memPool)) && attr == cudaMemPoolAttrReleaseThreshold && value != nullptr;
    return is_right ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const cudaMemAccessDesc* descList, size_t count) {
  return call([&] {
    for (size_t i = 0; i < count; ++i) {
      const cudaMemLocation& location = descList[i].location;
      if (location.type != cudaMemLocationTypeDevice || !is_device(location.id)) return cudaErrorInvalidDevice;
      machine().peers.pool_is_open[device_of(memPool)][location.id] =
          descList[i].flags == cudaMemAccessFlagsProtReadWrite;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t) {
  return call([&] { return is_device(device_of(memPool)) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaMallocFromPoolAsync(void** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return call([&] {
    if (size == 0) return cudaErrorInvalidValue;
    const OperationId id = machine().scheduler.enqueue(stream_of(stream), {.name = "allocation of memory"}, [] {});
    const Allocation* const made = machine().arena.allocate(size, device_of(memPool), Origin::pool, id);
    if (made == nullptr) return cudaErrorMemoryAllocation;
    *ptr = reinterpret_cast<void*>(made->begin);
    return cudaSuccess;
  });
}

cudaError_t cudaFreeAsync(void* devPtr, cudaStream_t hStream) {
  return call([&] {
    Allocation* const memory = taken_to_free(
        devPtr, [](Origin origin) { return origin == Origin::pool; }, "cudaFreeAsync");
    if (memory == nullptr) return cudaErrorInvalidValue;
    machine().scheduler.enqueue(stream_of(hStream), {.name = "freeing of memory"}, [memory] { free_now(*memory); });
    return cudaSuccess;
  });
}

// A file, so that other processes can map it.
cudaError_t cudaMalloc(void** devPtr, size_t size) {
  return call([&] {
    if (size > Arena::kDeviceBytes) return cudaErrorMemoryAllocation;
    const int file = memfd_create("hbench-emulated-gpu", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) return cudaErrorMemoryAllocation;
    const Allocation* const made = machine().arena.allocate(size, current_device(), Origin::device, 0, file);
    if (made == nullptr) return cudaErrorMemoryAllocation;
    *devPtr = reinterpret_cast<void*>(made->begin);
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* devPtr) {
  return call([&] {
    if (devPtr == nullptr) return cudaSuccess;
    return free_on_idle_device(taken_to_free(
        devPtr, [](Origin origin) { return origin != Origin::other_process; }, "cudaFree"));
  });
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* devPtr) {
  return call([&] {
    const Allocation* const found = machine().arena.beginning_at(devPtr);
    if (found == nullptr || found->origin != Origin::device) return cudaErrorInvalidValue;
    IpcName name{{}, getpid(), found->file, found->size, found->device};
    std::memcpy(name.magic, kMagic, sizeof kMagic);
    std::memset(handle, 0, sizeof *handle);
    std::memcpy(handle, &name, sizeof name);
    return cudaSuccess;
  });
}

// A process cannot open its own memory, which cudaIpcOpenMemHandle's documentation says too.
cudaError_t cudaIpcOpenMemHandle(void** devPtr, cudaIpcMemHandle_t handle, unsigned flags) {
  return call([&] {
    IpcName name{};
    std::memcpy(&name, &handle, sizeof name);
    if (std::memcmp(name.magic, kMagic, sizeof kMagic) != 0 || flags != cudaIpcMemLazyEnablePeerAccess)
      return cudaErrorInvalidValue;
    const std::string path = fmt::format("/proc/{}/fd/{}", name.process, name.file);
    const int file = name.process == getpid() ? -1 : open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return cudaErrorInvalidResourceHandle;
    const Allocation* const made = machine().arena.allocate(name.size, name.device, Origin::other_process, 0, file);
    if (made == nullptr) return cudaErrorMemoryAllocation;
    *devPtr = reinterpret_cast<void*>(made->begin);
    return cudaSuccess;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* devPtr) {
  return call([&] {
    return free_on_idle_device(taken_to_free(
        devPtr, [](Origin origin) { return origin == Origin::other_process; }, "cudaIpcCloseMemHandle"));
  });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&] {
    if (!is_direction(kind, is_on_device(src), is_on_device(dst))) return cudaErrorInvalidValue;
    machine().scheduler.enqueue(stream_of(stream), {.name = "copy"}, [=] { copy_now(dst, src, count); });
    return cudaSuccess;
  });
}

cudaError_t cudaMemsetAsync(void* devPtr, int value, size_t count, cudaStream_t stream) {
  return call([&] {
    if (count == 0) return cudaSuccess;
    if (!is_on_device(devPtr)) return cudaErrorInvalidValue;
    machine().scheduler.enqueue(stream_of(stream), {.name = "setting of memory"}, [=] {
      if (check_copy({number(devPtr), count, AccessKind::write})) std::memset(devPtr, value, count);
    });
    return cudaSuccess;
  });
}

}  // extern "C"
