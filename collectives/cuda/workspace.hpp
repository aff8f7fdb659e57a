#pragma once

#include <memory>

#include "collectives/device/device.hpp"

namespace hbench::cuda {

/// Device memory in which one kernel leaves intermediate results for the next; grows on demand and is kept from call to
/// call. Calls on one device may share it, because their kernels run in order and each call writes what it reads.
class Workspace {
 public:
  explicit Workspace(Device& device) : device_(device) {}

  /// At least `bytes`, aligned to 256; valid until the next call. Growing waits for the device.
  std::byte* of(std::size_t bytes) {
    if (bytes > bytes_) {
      memory_ = nullptr;  // the old one need not find room beside the new one
      bytes_ = 0;
      memory_ = device_.allocate(bytes);
      bytes_ = bytes;
    }
    return memory_.get();
  }

 private:
  Device& device_;
  DeviceMemory memory_;
  std::size_t bytes_ = 0;
};

}  // namespace hbench::cuda
