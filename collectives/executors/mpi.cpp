#include "collectives/endpoints/endpoint.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {

extern const ExecutorKind kMpiExecutor;
constinit const ExecutorKind kMpiExecutor{
    .name = "mpi",
    .summary = "every rank is a process; messages travel by MPI",
    .evidence = "measured",
    .limits = "MPI's own collectives: below 2^31 elements, neither float16 nor bfloat16",
    .availability = mpi_availability,
    .across_hosts = true,
};

}  // namespace hbench
