#include "collectives/cuda/launching_device.hpp"

#include "collectives/base/error.hpp"

namespace hbench::cuda {

LaunchingDevice& launching_device(Device& device) {
  auto* const found = dynamic_cast<LaunchingDevice*>(&device);
  if (found == nullptr) throw Error(ExitCode::internal, "a CUDA kernel was asked for memory that is on no GPU");
  return *found;
}

}  // namespace hbench::cuda
