#include "collectives/endpoints/endpoint.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {

namespace {

std::vector<std::unique_ptr<Endpoint>> make_host_endpoints(int ranks) { return make_thread_endpoints(ranks); }

}  // namespace

extern const ExecutorKind kThreadsExecutor;
constinit const ExecutorKind kThreadsExecutor{
    .name = "threads",
    .summary = "every rank is a thread of this process; a receiver reads its sender's memory",
    .evidence = "measured",
    .limits = "ranks of one process; no library's own collectives",
    .availability = [] { return Availability{}; },
    .runs = ExecutorKind::Runs::schedules,
    .make_endpoints = make_host_endpoints,
};

}  // namespace hbench
