#pragma once

/// What tests of kernels share, on a GPU and on the device that does as kernels do.

#include <gtest/gtest.h>

#include "collectives/cuda/cuda.hpp"
#include "tests/collectives/cuda_data.hpp"

namespace hbench::support {

/// A test on a device, with fresh random numbers; skipped where the device cannot be made.
class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    device = make();
    if (device == nullptr) GTEST_SKIP() << cuda_availability().in_words();
    SCOPED_TRACE(seed);
  }
  /// Returns null where there is none.
  virtual std::unique_ptr<Device> make() const = 0;

  std::unique_ptr<Device> device;
  unsigned seed = std::random_device{}();
  std::mt19937_64 random{seed};
};

inline std::unique_ptr<Device> make_gpu() { return cuda_availability().available ? make_cuda_device(0) : nullptr; }

class OnGpu : public OnDevice {
  std::unique_ptr<Device> make() const override { return make_gpu(); }
};

/// What `cuda_kernels_test.cpp` tests on every device that a program instantiates it with.
class KernelTest : public OnDevice, public ::testing::WithParamInterface<std::unique_ptr<Device> (*)()> {
  std::unique_ptr<Device> make() const override { return GetParam()(); }
};
class CudaReductions : public KernelTest {};
class CudaCodecs : public KernelTest {};
class CudaPacking : public KernelTest {};
class CudaProducts : public KernelTest {};

/// Poisoned memory of a device with guards, that checks them whenever it is read.
class GuardedMemory {
 public:
  GuardedMemory(Device& device, const Placed& placed)
      : device_(device), placed_(placed), memory_(device.allocate(placed.all())), host_(placed.all(), kPoison) {
    device_.write(host_, {memory_.get(), host_.size()});
  }

  std::span<std::byte> span() { return placed_.of({memory_.get(), host_.size()}); }
  std::span<float> floats() { return as_floats(span()); }
  void put(std::span<const std::byte> values) { device_.write(values, span()); }
  std::vector<std::byte> get() {
    device_.read({memory_.get(), host_.size()}, host_);
    EXPECT_TRUE(placed_.guarded(host_)) << "written beside the buffer";
    const std::span<std::byte> found = placed_.of(host_);
    return {found.begin(), found.end()};
  }

 private:
  Device& device_;
  Placed placed_;
  DeviceMemory memory_;
  std::vector<std::byte> host_;
};

}  // namespace hbench::support
