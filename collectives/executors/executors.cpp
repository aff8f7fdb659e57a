#include <algorithm>
#include <array>

#include "collectives/executors/executor.hpp"

namespace hbench {

extern const ExecutorKind kThreadsExecutor;
extern const ExecutorKind kMpiExecutor;
extern const ExecutorKind kShmExecutor;
extern const ExecutorKind kCudaExecutor;
extern const ExecutorKind kNcclExecutor;
extern const ExecutorKind kNcclPointToPointExecutor;
extern const ExecutorKind kSimulateExecutor;

namespace {
constexpr std::array kExecutors{&kThreadsExecutor, &kMpiExecutor,  &kShmExecutor,
                                &kCudaExecutor,    &kNcclExecutor, &kNcclPointToPointExecutor,
                                &kSimulateExecutor};
}

std::span<const ExecutorKind* const> executors() { return kExecutors; }

Seconds Timeline::slowest() const { return finish.empty() ? Seconds(0) : std::ranges::max(finish); }

}  // namespace hbench
