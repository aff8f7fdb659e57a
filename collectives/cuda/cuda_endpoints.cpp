#include "collectives/cuda/cuda_endpoints.hpp"

#include <algorithm>

#include "collectives/cuda/cuda.hpp"

namespace hbench {

std::vector<std::unique_ptr<Endpoint>> make_cuda_endpoints(int ranks) {
  join_gpus(std::min(ranks, cuda_devices()));
  return make_thread_endpoints(ranks,
                               [](Rank rank) { return std::shared_ptr<Device>(make_cuda_device(gpu_of(rank))); });
}

}  // namespace hbench
