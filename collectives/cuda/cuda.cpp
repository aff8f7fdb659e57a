#include "collectives/cuda/cuda.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/cuda/codecs.hpp"
#include "collectives/cuda/cuda_device.hpp"
#include "collectives/cuda/facts.hpp"

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

namespace hbench {
namespace {

/// As Linux writes it; empty where CUDA does not report it.
std::string pci_address(int gpu) {
  char address[32] = {};
  if (cudaDeviceGetPCIBusId(address, sizeof address, gpu) != cudaSuccess) return "";
  return lower_case(address);
}

std::unique_ptr<Device> make_device(int gpu, bool default_stream) {
  const cuda::Facts facts = cuda::facts();
  const Availability availability = cuda::availability_of(facts);
  if (!availability.available) throw availability.error();
  if (gpu < 0 || gpu >= facts.devices)
    throw Error(ExitCode::usage, fmt::format("there is no GPU {}: this process sees {}", gpu, facts.devices),
                "GPUs are counted from 0; `nvidia-smi -L` lists them, CUDA_VISIBLE_DEVICES may hide some");
  return std::make_unique<cuda::CudaDevice>(gpu, default_stream);
}

}  // namespace

Availability cuda_availability() { return cuda::availability_of(cuda::facts()); }

int cuda_devices() {
  const cuda::Facts facts = cuda::facts();
  return cuda::availability_of(facts).available ? facts.devices : 0;
}

std::unique_ptr<Device> make_cuda_device(int gpu) { return make_device(gpu, false); }

std::unique_ptr<Device> make_default_cuda_device(int gpu) { return make_device(gpu, true); }

void join_gpus(int gpus) { cuda::join_gpus(gpus); }

int gpu_of(Rank rank) { return rank % std::max(cuda_devices(), 1); }

std::string cuda_runtime_version() { return fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10); }

std::string pci_address_of(Device& device) {
  const auto* const ours = dynamic_cast<cuda::CudaDevice*>(&device);
  return ours != nullptr ? pci_address(ours->gpu()) : "";
}

std::vector<std::string> cuda_pci_addresses() {
  std::vector<std::string> addresses;
  for (int gpu = 0, all = cuda_devices(); gpu < all; ++gpu) addresses.push_back(pci_address(gpu));
  return addresses;
}

bool cuda_compresses(const Compressor& compressor) {
  if (compressor.exchange == Exchange::low_rank) return true;
  return compressor.make_memory == nullptr &&  // a momentum is kept on the host
         find_cuda_codec(compressor.name) != nullptr;
}

}  // namespace hbench
