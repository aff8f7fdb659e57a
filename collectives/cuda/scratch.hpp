#pragma once

#include <memory>

#include "collectives/executors/device.hpp"

namespace hbench::cuda {

/// Memory for what kernels tell each other, kept from call to call. Works on one device in its order may share it: each
/// writes what it reads.
class Scratch {
 public:
  explicit Scratch(Device& device) : device_(device) {}

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
