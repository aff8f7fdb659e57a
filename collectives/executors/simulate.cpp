#include "collectives/executors/executor.hpp"

namespace hbench {

extern const ExecutorKind kSimulateExecutor;
constinit const ExecutorKind kSimulateExecutor{
    .name = "simulate",
    .summary = "all ranks in virtual time, on the network of a cluster profile",
    .evidence = "simulated",
    .limits = "no library's own collectives: their schedules are not known",
    .availability = [] { return Availability{}; },
};

}  // namespace hbench
