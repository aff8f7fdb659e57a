#include "bench/strategy.hpp"

#include "collectives/base/table.hpp"

namespace hbench {
namespace {
constexpr std::string_view kUntold = "mpi";
}

StepStrategy resolve(const Strategy& strategy) {
  StepStrategy resolved;
  resolved.algorithm = parse_algorithm_rule(strategy.algorithm);
  if (!strategy.placement.empty()) resolved.placement = &find_entry(placements(), strategy.placement, "placement");
  resolved.compressor = parse_compressor(strategy.compressor);
  resolved.fusion = parse_fusion(strategy.fusion);
  resolved.overlap = strategy.overlap;
  return resolved;
}

const ExecutorKind& executor_of(const TrainingTask& training) {
  return find_entry(executors(), training.executor.empty() ? kUntold : training.executor, "executor");
}

Precision precision_of(const TrainingTask& training) {
  return training.precision.empty() ? Precision::float32 : parse_precision(training.precision);
}

std::string told_executor(std::string_view name) { return name == kUntold ? "" : std::string(name); }

}  // namespace hbench
