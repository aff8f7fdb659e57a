#include "collectives/cuda/cuda.hpp"

#include "collectives/cuda/cuda_endpoints.hpp"
#include "collectives/cuda/gpu_compressors.hpp"
#include "collectives/executors/executor.hpp"

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
    .make_endpoints = make_cuda_endpoints,
    .make_endpoint = make_cuda_endpoint,
};

}  // namespace hbench
