// A rank that is a process and has a GPU, on one host with the others.

#include <cstdlib>

#include "collectives/base/error.hpp"
#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/cuda_device.hpp"
#include "collectives/cuda/cuda_endpoints.hpp"
#include "collectives/transport/host_place.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {
namespace {

class CudaProcessEndpoint final : public Endpoint {
 public:
  CudaProcessEndpoint(Endpoint& home, int gpu)
      : home_(home),
        memory_(std::make_shared<cuda::ShareableMemory>(gpu)),
        device_(gpu, memory_),
        transport_(make_peer_memory_transport(home.control(), device_, *memory_)) {}

  Transport& transport() override { return *transport_; }
  Transport& control() override { return home_.control(); }
  [[noreturn]] void abort(int exit_code) override {
    home_.abort(exit_code);
    std::abort();
  }

 private:
  Endpoint& home_;
  std::shared_ptr<cuda::ShareableMemory> memory_;
  cuda::CudaDevice device_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace

std::unique_ptr<Endpoint> make_cuda_endpoint(Endpoint& home) {
  const Availability availability = cuda_availability();
  if (!availability.available) throw availability.error();
  const HostPlace place = find_host_place(home.control(), kSetupTimeout);
  if (place.hosts > 1)
    throw Error(ExitCode::usage, "the executor cuda works on one host, and the ranks are on several",
                "nccl and nccl-p2p go beyond one host");
  return std::make_unique<CudaProcessEndpoint>(home, gpu_of(place.rank));
}

}  // namespace hbench
