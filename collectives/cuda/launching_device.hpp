#pragma once

/// A `Device` on which kernels are launched: what codecs, packing and products need to know of a GPU.

#include "collectives/cuda/launch.hpp"
#include "collectives/device/device.hpp"

namespace hbench::cuda {

class LaunchingDevice : public Device {
 public:
  /// Where kernels are launched; makes the GPU current.
  virtual const Queue& queue() = 0;
};

/// The LaunchingDevice that `device` is. \throws Error (internal) when it is none.
LaunchingDevice& launching_device(Device& device);

}  // namespace hbench::cuda
