#include "collectives/executors/executor.hpp"

namespace hbench {

extern const ExecutorKind kSimulateExecutor;
constinit const ExecutorKind kSimulateExecutor{
    .name = "simulate",
    .summary = "all ranks in virtual time, on the network of a cluster profile",
    .evidence = "simulated",
    .limits = "a library's own collectives by a model of NCCL, not by their schedules",
    .availability = [] { return Availability{}; },
};

}  // namespace hbench
