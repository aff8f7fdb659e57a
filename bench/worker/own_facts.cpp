#include "bench/worker/facts.hpp"
#include "collectives/cuda/nccl.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "workloads/libtorch.hpp"

namespace hbench {

WorkerFacts own_facts() {
  return {.torch = torch_facts(),
          .mpi = mpi_library(),
          .nccl = nccl_version(),
          .gpu_training = gpu_training_availability()};
}

}  // namespace hbench
