#pragma once

/// The driver's library: opened once it is needed, with the functions that it has.
///
/// The part of NVML's binary interface that we use, in our words. Its header is in few toolkits (not in those from
/// wheels), and its functions are found at run time anyhow. Source: NVML API Reference, R580
/// (docs.nvidia.com/deploy/nvml-api); where `nvml.h` is found, `tests/collectives/nvml_abi_test.cpp` compares.

#include <memory>
#include <string>

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

/// Null: this driver has no such function.
struct Functions {
  Result (*initialise)() = nullptr;
  Result (*shut_down)() = nullptr;
  const char* (*error_string)(Result) = nullptr;
  Result (*driver_version)(char*, unsigned) = nullptr;
  Result (*cuda_version)(int*) = nullptr;
  Result (*count)(unsigned*) = nullptr;
  Result (*handle_by_index)(unsigned, Handle*) = nullptr;
  Result (*handle_by_address)(const char*, Handle*) = nullptr;
  Result (*name)(Handle, char*, unsigned) = nullptr;
  Result (*uuid)(Handle, char*, unsigned) = nullptr;
  Result (*pci_info)(Handle, PciInfo*) = nullptr;
  Result (*compute_capability)(Handle, int*, int*) = nullptr;
  Result (*memory)(Handle, Memory*) = nullptr;
  Result (*clock)(Handle, unsigned, unsigned*) = nullptr;
  Result (*most_clock)(Handle, unsigned, unsigned*) = nullptr;
  Result (*power)(Handle, unsigned*) = nullptr;
  Result (*power_limit)(Handle, unsigned*) = nullptr;
  Result (*temperature)(Handle, unsigned, unsigned*) = nullptr;
  Result (*clock_reasons)(Handle, unsigned long long*) = nullptr;
  Result (*ecc_errors)(Handle, unsigned, unsigned, unsigned long long*) = nullptr;
  Result (*pcie_generation)(Handle, unsigned*) = nullptr;
  Result (*pcie_width)(Handle, unsigned*) = nullptr;
  Result (*most_pcie_generation)(Handle, unsigned*) = nullptr;
  Result (*most_pcie_width)(Handle, unsigned*) = nullptr;
  Result (*mig)(Handle, unsigned*, unsigned*) = nullptr;
  Result (*persistence)(Handle, unsigned*) = nullptr;
  Result (*link_state)(Handle, unsigned, unsigned*) = nullptr;
  Result (*link_end)(Handle, unsigned, PciInfo*) = nullptr;
  Result (*link_end_type)(Handle, unsigned, unsigned*) = nullptr;
  Result (*processes)(Handle, unsigned*, Process*) = nullptr;
  Result (*processes_v1)(Handle, unsigned*, ProcessV1*) = nullptr;
};

/// Initialised as long as it lives.
class Library {
 public:
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  /// Null where the library is missing or does not start; `failure` then says why, and `installed` whether there is
  /// one.
  static std::shared_ptr<const Library> open(const std::string& path, std::string& failure, bool& installed);

  const Functions& functions() const { return functions_; }
  /// NVML's words for a result.
  std::string words(Result result) const;

 private:
  explicit Library(void* handle);

  void* handle_;
  Functions functions_;
  bool initialised_ = false;
};

}  // namespace hbench::nvml
