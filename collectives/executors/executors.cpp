#include "collectives/executors/executor.hpp"

#include <algorithm>
#include <array>

#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/cuda_endpoints.hpp"
#include "collectives/cuda/nccl.hpp"
#include "collectives/endpoints/endpoint.hpp"

namespace hbench {
namespace {

constexpr ExecutorKind kThreads{
    .name = "threads",
    .summary = "every rank is a thread of this process; a receiver reads its sender's memory",
    .evidence = "measured",
    .limits = "ranks of one process; no library's own collectives",
    .availability = [] { return Availability{}; },
    .runs = ExecutorKind::Runs::schedules,
    .make_endpoints = [](int ranks) { return make_thread_endpoints(ranks); },
};

constexpr ExecutorKind kMpi{
    .name = "mpi",
    .summary = "every rank is a process; messages travel by MPI",
    .evidence = "measured",
    .limits = "MPI's own collectives: below 2^31 elements, neither float16 nor bfloat16",
    .availability = mpi_availability,
    .across_hosts = true,
};

constexpr ExecutorKind kShm{
    .name = "shm",
    .summary = "every rank is a process; ranks of one host read each other's buffers, hosts exchange messages by MPI",
    .evidence = "measured",
    .limits = "ranks of one host are processes of one user, who sees them in /proc",
    .availability = shm_availability,
    .runs = ExecutorKind::Runs::schedules,
    .make_endpoint = [](Endpoint&) { return make_shm_endpoint(0); },
};

constexpr ExecutorKind kCuda{
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

constexpr ExecutorKind kNccl{
    .name = "nccl",
    .summary = "NCCL's own collectives between GPUs, of one host or, under a launcher, of many",
    .evidence = "measured",
    .limits = "before NCCL 2.30 one rank for each GPU; no algorithms or compressors of ours",
    .availability = nccl_availability,
    .across_hosts = true,
    .on_gpu = true,
    .runs = ExecutorKind::Runs::vendor,
    .rounds_only = true,
    .make_endpoints = make_nccl_endpoints,
    .make_endpoint = make_nccl_endpoint,
};

constexpr ExecutorKind kNcclPointToPoint{
    .name = "nccl-p2p",
    .summary = "our schedules between GPUs as with nccl, each round a group of ncclSend and ncclRecv",
    .evidence = "measured",
    .limits = "before NCCL 2.30 one rank for each GPU; compressors that have kernels",
    .availability = nccl_availability,
    .across_hosts = true,
    .on_gpu = true,
    .runs = ExecutorKind::Runs::schedules,
    .rounds_only = true,
    .refuses = refuse_on_gpu,
    .make_endpoints = make_nccl_endpoints,
    .make_endpoint = make_nccl_endpoint,
};

constexpr ExecutorKind kSimulate{
    .name = "simulate",
    .summary = "all ranks in virtual time, on the network of a cluster profile",
    .evidence = "simulated",
    .limits = "a library's own collectives by a model of NCCL, not by their schedules",
    .availability = [] { return Availability{}; },
};

constexpr std::array kExecutors{&kThreads, &kMpi, &kShm, &kCuda, &kNccl, &kNcclPointToPoint, &kSimulate};

}  // namespace

std::span<const ExecutorKind* const> executors() { return kExecutors; }

const ExecutorKind* find_executor(std::string_view name) {
  const auto found = std::ranges::find(executors(), name, &ExecutorKind::name);
  return found == executors().end() ? nullptr : *found;
}

bool works_on_gpu(std::string_view executor) {
  const ExecutorKind* kind = find_executor(executor);
  return kind != nullptr && kind->on_gpu;
}

}  // namespace hbench
