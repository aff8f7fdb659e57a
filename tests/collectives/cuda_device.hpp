#pragma once

/// What tests on a GPU share.

#include <gtest/gtest.h>

#include "collectives/cuda/cuda.hpp"
#include "tests/collectives/cuda_data.hpp"

namespace hbench::support {

/// Skips where no GPU can be used, and says why.
class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    const Availability availability = cuda_availability();
    if (!availability.available) GTEST_SKIP() << availability.reason << "; " << availability.cure;
    device = make_cuda_device(0);
    SCOPED_TRACE(seed);
  }

  std::unique_ptr<Device> device;
  unsigned seed = std::random_device{}();
  std::mt19937_64 random{seed};
};

/// Poisoned memory of a GPU with guards, that checks them whenever it is read.
class GpuMemory {
 public:
  GpuMemory(Device& device, const Placed& placed)
      : device_(device), placed_(placed), memory_(device.allocate(placed.all())), host_(placed.all(), kPoison) {
    device_.write(host_, {memory_.get(), host_.size()});
  }

  std::span<std::byte> span() { return placed_.of({memory_.get(), host_.size()}); }
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
