#include "collectives/endpoints/endpoint.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {

extern const ExecutorKind kShmExecutor;
constinit const ExecutorKind kShmExecutor{
    .name = "shm",
    .summary = "every rank is a process; ranks of one host read each other's buffers, hosts exchange messages by MPI",
    .evidence = "measured",
    .limits = "ranks of one host are processes of one user, who sees them in /proc",
    .availability = shm_availability,
    .runs = ExecutorKind::Runs::schedules,
    .make_endpoint = [](Endpoint&) { return make_shm_endpoint(0); },
};

}  // namespace hbench
