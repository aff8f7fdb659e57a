#include "collectives/cuda/facts.hpp"

#include <cuda_runtime_api.h>

namespace hbench::cuda {

Facts facts() {
  Facts found;
  found.toolkit = CUDART_VERSION;
  if (cudaDriverGetVersion(&found.driver) != cudaSuccess) found.driver = 0;
  const cudaError_t code = cudaGetDeviceCount(&found.devices);
  if (code != cudaSuccess) {
    cudaGetLastError();
    found.devices = 0;
    if (code != cudaErrorNoDevice) found.failure = cudaGetErrorString(code);
  }
  return found;
}

}  // namespace hbench::cuda
