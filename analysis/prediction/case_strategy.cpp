#include "analysis/prediction/case_strategy.hpp"

#include <algorithm>
#include <array>

#include "collectives/base/table.hpp"

namespace hbench {
namespace {

/// What a training case ran on where it does not say so.
constexpr std::string_view kDefaultExecutor = "mpi";
constexpr std::array<std::string_view, 2> kDevices{"cpu", kGpuDevice};
/// In the order of `ServerMode`.
constexpr std::array<std::string_view, 2> kServerModes{kDedicated, kColocated};

ServerMode parse_server_mode(std::string_view name) {
  const auto found = std::ranges::find(kServerModes, name);
  if (found == kServerModes.end()) throw unknown_name("server mode", name, kServerModes);
  return static_cast<ServerMode>(found - kServerModes.begin());
}

TrainingStrategy parse_strategy(const Case& asked) {
  const Strategy& stored = asked.strategy;
  const TrainingTask& task = asked.training;
  TrainingStrategy strategy;
  strategy.overlap = stored.overlap;
  if (!task.device.empty()) strategy.on_gpu = parse_on_gpu(task.device);
  if (!task.precision.empty()) strategy.precision = parse_precision(task.precision);
  if (!task.recompute.empty()) strategy.recomputation = parse_recomputation(task.recompute);
  if (!task.optimizer.empty()) strategy.optimizer = parse_optimizer(task.optimizer);
  if (!stored.communicates()) return strategy;
  strategy.algorithm = parse_algorithm_rule(stored.algorithm);
  if (!stored.placement.empty()) strategy.placement = &find_entry(placements(), stored.placement, "placement");
  strategy.servers = stored.servers;
  if (!stored.server_mode.empty()) strategy.server_mode = parse_server_mode(stored.server_mode);
  strategy.compressor = parse_compressor(stored.compressor);
  strategy.fusion = parse_fusion(stored.fusion);
  if (!stored.method.empty()) strategy.method = parse_method(stored.method);
  if (!stored.preset.empty()) strategy.preset = &find_entry(presets(), stored.preset, "preset");
  if (asked.is_timed())
    strategy.executor = &find_entry(executors(), task.executor.empty() ? kDefaultExecutor : task.executor, "executor");
  return strategy;
}

void write_strategy(Case& asked, const TrainingStrategy& strategy) {
  asked.strategy = {.algorithm = kNoCommunication, .overlap = strategy.overlap};
  TrainingTask& task = asked.training;
  task.device = strategy.on_gpu ? kGpuDevice : "";
  task.precision = strategy.precision == Precision::float32 ? "" : entry_of(strategy.precision).name;
  task.optimizer = strategy.optimizer ? strategy.optimizer->text() : "";
  task.recompute = strategy.recomputation == Recomputation::none ? "" : entry_of(strategy.recomputation).name;
  task.executor.clear();
  if (!strategy.communicates()) return;
  asked.strategy.algorithm = strategy.algorithm.text();
  asked.strategy.compressor = strategy.compressor.text();
  asked.strategy.fusion = strategy.fusion.text();
  if (strategy.preset != nullptr) asked.strategy.preset = strategy.preset->name;
  if (!strategy.method.is_synchronous()) asked.strategy.method = strategy.method.text();
  if (strategy.algorithm.uses_servers()) {
    asked.strategy.placement = strategy.placement->name;
    asked.strategy.servers = strategy.servers;
    asked.strategy.server_mode = kServerModes.at(static_cast<std::size_t>(strategy.server_mode));
  }
  if (strategy.executor != nullptr && strategy.executor->name != kDefaultExecutor)
    task.executor = strategy.executor->name;
}

}  // namespace

int PlannedCase::micro_batch() const {
  const ModelDivision& division = strategy.method.division;
  return division.none() ? asked.micro_batch()
                         : std::max(1, asked.batch_per_gpu * division.ranks() / division.micro_batches);
}

PlannedCase planned(Case stored) {
  TrainingStrategy strategy = parse_strategy(stored);
  return {std::move(stored), std::move(strategy)};
}

PlannedCase planned(Case asked, const TrainingStrategy& strategy) {
  write_strategy(asked, strategy);
  // The text decides: it leaves out what means nothing there, and reads an executor where a timed case needs one.
  return planned(std::move(asked));
}

TrainingStrategy no_communication(bool on_gpu, Precision precision) {
  TrainingStrategy strategy;
  strategy.overlap = false;
  strategy.on_gpu = on_gpu;
  strategy.precision = precision;
  return strategy;
}

bool parse_on_gpu(std::string_view device) {
  if (device == kGpuDevice) return true;
  if (device == kDevices.front()) return false;
  throw unknown_name("device", device, kDevices);
}

int workers_per_node(const Case& timed) { return timed.workers() / std::max(timed.nodes, 1); }

bool ranks_are_processes(const Case& timed, const TrainingStrategy& strategy) {
  if (!strategy.communicates()) return false;
  return timed.nodes > 1 || !strategy.executor->ranks_are_threads();
}

World world_of_collective(const Case& asked) {
  World world{asked.gpus, asked.strategy.servers, asked.strategy.colocated()};
  if (asked.collective.ranks_per_node > 0) world.group = asked.collective.ranks_per_node;
  return world;
}

AlgorithmChoice algorithm_of(const Case& asked, std::int64_t bytes) {
  const CollectiveKind collective = parse_collective_kind(asked.collective.name);
  if (collective != CollectiveKind::all_reduce) return parse_algorithm(asked.strategy.algorithm, collective);
  return parse_algorithm_rule(asked.strategy.algorithm).at(bytes);
}

}  // namespace hbench
