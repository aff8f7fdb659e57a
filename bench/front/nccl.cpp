#include "collectives/cuda/nccl.hpp"
#include "bench/front/fuller_program.hpp"
#include "collectives/cuda/cuda.hpp"

namespace hbench {
namespace {

Error no_nccl_here() { return {ExitCode::internal, "NCCL is hbench-worker's, not hbench's"}; }

}  // namespace

Availability nccl_availability() {
  Availability gpus = cuda_availability();
  return gpus.available ? fuller_availability() : gpus;
}

std::string nccl_version() { return fuller_facts().nccl; }

std::vector<std::unique_ptr<Endpoint>> make_nccl_endpoints(int) { throw no_nccl_here(); }

std::unique_ptr<Endpoint> make_nccl_endpoint(Endpoint&) { throw no_nccl_here(); }

}  // namespace hbench
