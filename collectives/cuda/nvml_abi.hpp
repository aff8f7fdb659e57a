#pragma once

/// The part of NVML's binary interface that we use, in our words. Its header is in few toolkits (not in those from
/// wheels), and its functions are found at run time anyhow. Source: NVML API Reference, R580
/// (docs.nvidia.com/deploy/nvml-api); where `nvml.h` is found, `tests/collectives/nvml_abi_test.cpp` compares.

#include <cstdint>

namespace hbench::nvml {

using Result = unsigned;
inline constexpr Result kSuccess = 0;
inline constexpr Result kInsufficientSize = 7;

/// A GPU, as long as the library is initialised.
using Handle = struct OpaqueDevice*;

struct Memory {
  unsigned long long total = 0, free = 0, used = 0;  ///< bytes
};

struct PciInfo {
  char short_address[16] = {};
  unsigned domain = 0, bus = 0, device = 0;
  unsigned device_id = 0, subsystem_id = 0;
  char address[32] = {};  ///< `00000000:1B:00.0`
};

/// Before drivers of CUDA 11, and since.
struct ProcessV1 {
  unsigned pid = 0;
  unsigned long long memory = 0;
};
struct Process {
  unsigned pid = 0;
  unsigned long long memory = 0;  ///< bytes, or kNotAvailable
  unsigned gpu_instance = 0, compute_instance = 0;
};
inline constexpr unsigned long long kNotAvailable = ~0ULL;

/// NVML's enumerations; to C an enumeration is an unsigned int.
inline constexpr unsigned kSmClock = 1, kMemoryClock = 2;
inline constexpr unsigned kGpuSensor = 0;
inline constexpr unsigned kUncorrected = 1, kSinceDriverLoaded = 0;
inline constexpr unsigned kLinkToGpu = 0, kLinkToSwitch = 2;
/// More NVLinks than any GPU has: 18 (`NVML_NVLINK_MAX_LINKS`), and 36 on the newest.
inline constexpr unsigned kMostLinks = 36;

}  // namespace hbench::nvml
