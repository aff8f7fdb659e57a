#include "collectives/cuda/nccl.hpp"

#include "collectives/cuda/gpu_compressors.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {

extern const ExecutorKind kNcclExecutor;
constinit const ExecutorKind kNcclExecutor{
    .name = "nccl",
    .summary = "NCCL's own collectives between GPUs, of one host or, under a launcher, of many",
    .evidence = "measured",
    .limits = "before NCCL 2.30 one rank for each GPU; no algorithms or compressors of ours",
    .availability = nccl_availability,
    .across_hosts = true,
    .on_gpu = true,
    .runs = ExecutorKind::Runs::vendor,
    .make_endpoints = make_nccl_endpoints,
    .make_endpoint = make_nccl_endpoint,
};

extern const ExecutorKind kNcclPointToPointExecutor;
constinit const ExecutorKind kNcclPointToPointExecutor{
    .name = "nccl-p2p",
    .summary = "our schedules between GPUs as with nccl, each round a group of ncclSend and ncclRecv",
    .evidence = "measured",
    .limits = "before NCCL 2.30 one rank for each GPU; compressors that have kernels, and not per hop",
    .availability = nccl_availability,
    .across_hosts = true,
    .on_gpu = true,
    .runs = ExecutorKind::Runs::schedules,
    .refuses = refuse_by_nccl,
    .make_endpoints = make_nccl_endpoints,
    .make_endpoint = make_nccl_endpoint,
};

}  // namespace hbench
