// The functions of CUDA's runtime that are about devices, and launches.

#include <cstdio>
#include <cstring>
#include <utility>

#include "tests/emulated_gpu/block.hpp"
#include "tests/emulated_gpu/reports.hpp"
#include "tests/emulated_gpu/runtime.hpp"

namespace hbench::emulated_gpu {
namespace {

thread_local int current = 0;
thread_local cudaError_t last_error = cudaSuccess;

bool is_in(unsigned count, unsigned most) { return count > 0 && count <= most; }

/// CUDA's limits of compute capability 9.0.
bool can_be_launched(const Launch& asked) {
  const std::size_t threads = std::size_t{asked.block.x} * asked.block.y * asked.block.z;
  return is_in(asked.grid.x, 0x7fff'ffff) && is_in(asked.grid.y, 65535) && is_in(asked.grid.z, 65535) && threads > 0 &&
         threads <= kMostThreads && asked.argument_bytes <= kMostArgumentBytes;
}

}  // namespace

cudaError_t keep(cudaError_t code) {
  if (code != cudaSuccess) last_error = code;
  return code;
}

int current_device() { return current; }

bool is_device(int device) { return device >= 0 && device < machine().visible_devices; }

Stream& stream_of(cudaStream_t handle) {
  if (handle != nullptr) return *reinterpret_cast<Stream*>(handle);
  return *machine().default_streams[static_cast<std::size_t>(current)];
}

void launch(const Launch& asked) {
  call([&] {
    if (!can_be_launched(asked)) return cudaErrorInvalidConfiguration;
    Stream& stream = stream_of(asked.stream);
    if (stream.device != current) return cudaErrorInvalidResourceHandle;
    const auto* const arguments = static_cast<const char*>(asked.arguments);
    Grid grid{asked.grid, asked.block, {arguments, arguments + asked.argument_bytes}, asked.body};
    machine().scheduler.enqueue(stream, {.name = "kernel", .kernel = asked.kernel}, [grid = std::move(grid)] {
      BlockExecutor::instance().run(grid, machine().scheduler.order());
    });
    return cudaSuccess;
  });
}

}  // namespace hbench::emulated_gpu

using namespace hbench::emulated_gpu;  // NOLINT(google-build-using-namespace)

extern "C" {

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInitializationError:
      return "initialization error";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorPeerAccessAlreadyEnabled:
      return "peer access is already enabled";
    default:
      return "an error that no emulated GPU has";
  }
}

cudaError_t cudaDriverGetVersion(int* driverVersion) {
  *driverVersion = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  return call([&] {
    *count = machine().visible_devices;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call([&] {
    *device = current;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call([&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    current = device;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
  return call([&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    if (attr != cudaDevAttrMultiProcessorCount) return cudaErrorInvalidValue;
    *value = kMultiprocessors;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* pciBusId, int len, int device) {
  return call([&] {
    if (!is_device(device)) return cudaErrorInvalidDevice;
    const int written = std::snprintf(pciBusId, static_cast<std::size_t>(len), "0000:%02X:00.0", 0x1b + device);
    return written < len ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void*, int blockSize, size_t) {
  return call([&] {
    *numBlocks = blockSize <= static_cast<int>(kMostThreads) ? kBlocksEach : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice) {
  return call([&] {
    if (!is_device(device) || !is_device(peerDevice)) return cudaErrorInvalidDevice;
    *canAccessPeer = device != peerDevice ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned flags) {
  return call([&] {
    if (flags != 0 || !is_device(peerDevice) || peerDevice == current) return cudaErrorInvalidDevice;
    const bool before = std::exchange(machine().peers.enabled[current][peerDevice], true);
    return before ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess;
  });
}

}  // extern "C"
