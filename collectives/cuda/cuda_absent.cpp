#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/cuda_endpoints.hpp"

namespace hbench {

Availability cuda_availability() {
  return {false, "hbench was built without CUDA",
          "install the CUDA toolkit, put its nvcc on the PATH and build again with -DHBENCH_WITH_CUDA=ON"};
}

int cuda_devices() { return 0; }

int gpu_of(Rank) { return 0; }

void join_gpus(int) {}

std::unique_ptr<Device> make_cuda_device(int) { throw cuda_availability().error(); }

std::unique_ptr<Device> make_default_cuda_device(int) { throw cuda_availability().error(); }

std::unique_ptr<Endpoint> make_cuda_endpoint(Endpoint&) { throw cuda_availability().error(); }

std::string cuda_runtime_version() { return ""; }

std::string pci_address_of(Device&) { return ""; }

std::vector<std::string> cuda_pci_addresses() { return {}; }

bool cuda_compresses(const Compressor&) { return false; }

}  // namespace hbench
