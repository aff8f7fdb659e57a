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

const ExecutorKind* find_executor(std::string_view name) {
  const auto found = std::ranges::find(executors(), name, &ExecutorKind::name);
  return found == executors().end() ? nullptr : *found;
}

bool works_on_gpu(std::string_view executor) {
  const ExecutorKind* kind = find_executor(executor);
  return kind != nullptr && kind->on_gpu;
}

}  // namespace hbench
