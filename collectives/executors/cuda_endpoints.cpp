#include "collectives/executors/cuda_endpoints.hpp"

#include <algorithm>

#include "collectives/executors/cuda.hpp"
#include "collectives/executors/gpu_compressors.hpp"
#include "collectives/executors/thread_executor.hpp"

namespace hbench {

extern const ExecutorKind kCudaExecutor;
constinit const ExecutorKind kCudaExecutor{
    .name = "cuda",
    .summary =
        "every rank has a stream on a GPU, whose kernels read the memory of the rank that sends: threads or, under a "
        "launcher, processes",
    .evidence = "measured",
    .limits = "ranks of one host; compressors that have kernels; no library's own collectives",
    .availability = cuda_availability,
    .on_gpu = true,
    .runs = ExecutorKind::Runs::schedules,
    .refuses = refuse_on_gpu,
    .make = [](const Profile*, Seconds timeout) { return make_thread_executor(timeout, make_cuda_endpoints); },
    .make_endpoints = make_cuda_endpoints,
    .make_endpoint = make_cuda_endpoint,
};

std::vector<std::unique_ptr<Endpoint>> make_cuda_endpoints(int ranks) {
  join_gpus(std::min(ranks, cuda_devices()));
  return make_thread_endpoints(ranks,
                               [](Rank rank) { return std::shared_ptr<Device>(make_cuda_device(gpu_of(rank))); });
}

}  // namespace hbench
