#include "collectives/cuda/launching_device.hpp"

#include <fmt/format.h>

#include "collectives/base/error.hpp"

namespace hbench::cuda {
namespace {

const char* hint_for(cudaError_t code) {
  switch (code) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return "build for this GPU: -DHBENCH_CUDA_ARCHITECTURES=<its compute capability without the dot>, which "
             "`nvidia-smi --query-gpu=compute_cap --format=csv` prints";
    case cudaErrorInsufficientDriver:
      return "install a driver that is no older than the CUDA toolkit of this build";
    case cudaErrorInitializationError:
      return "a process that was forked after CUDA had been used cannot use it: start ranks first";
    case cudaErrorDevicesUnavailable:
      return "another process has the GPU to itself: `nvidia-smi` shows which";
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
      return "a kernel failed, and the GPU does nothing more for this process; this is a mistake of hbench or of the "
             "GPU: `compute-sanitizer <command>` shows where, `nvidia-smi -q` whether the GPU reports errors";
    default:
      return "`nvidia-smi` shows the state of the GPU and of its driver";
  }
}

}  // namespace

LaunchingDevice& launching_device(Device& device) {
  auto* const found = dynamic_cast<LaunchingDevice*>(&device);
  if (found == nullptr) throw Error(ExitCode::internal, "a CUDA kernel was asked for memory that is on no GPU");
  return *found;
}

void succeed(cudaError_t code, std::string_view what) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // what is reported here is not to be reported again by the next launch
  throw Error(ExitCode::environment, fmt::format("{}: {}", what, cudaGetErrorString(code)), hint_for(code));
}

}  // namespace hbench::cuda
