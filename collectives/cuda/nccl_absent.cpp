#include "collectives/cuda/nccl.hpp"

namespace hbench {

Availability nccl_availability() {
  return {false, "hbench was built without NCCL",
          "install NCCL with its header beside the CUDA toolkit and build again with -DHBENCH_WITH_NCCL=ON"};
}

std::string nccl_version() { return ""; }

std::vector<std::unique_ptr<Endpoint>> make_nccl_endpoints(int) { throw nccl_availability().error(); }

std::unique_ptr<Endpoint> make_nccl_endpoint(Endpoint&) { throw nccl_availability().error(); }

}  // namespace hbench
