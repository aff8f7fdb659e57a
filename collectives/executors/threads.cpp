#include "collectives/executors/thread_executor.hpp"

namespace hbench {

extern const ExecutorKind kThreadsExecutor;
constinit const ExecutorKind kThreadsExecutor{
    .name = "threads",
    .summary = "every rank is a thread of this process; a receiver reads its sender's memory",
    .evidence = "measured",
    .limits = "ranks of one process; no library's own collectives",
    .availability = [] { return Availability{}; },
    .threads = true,
    .make = [](const Profile*, Seconds timeout) { return make_thread_executor(timeout); },
};

}  // namespace hbench
