#include "bench/training_worker.hpp"

#include <fmt/format.h>

#include "bench/plan.hpp"
#include "bench/strategy.hpp"
#include "collectives/base/table.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

TrainingRequest request_for(const WorkOrder& order) {
  TrainingRequest request;
  request.model = order.asked.workload;
  request.batch = order.asked.batch_per_gpu;
  request.image_size = order.asked.image_size;
  request.world = world_of(order.asked, order.asked.gpus);  // one node
  request.overlap = order.asked.strategy.overlap;
  request.warmup_steps = order.warmup_steps;
  request.steps = order.steps;
  request.budget = order.budget;
  request.timeout = order.timeout;
  request.on_gpu = order.asked.training.device == "gpu";
  if (!order.asked.training.precision.empty()) request.precision = parse_precision(order.asked.training.precision);
  if (order.asked.strategy.algorithm == "none") return request;
  const StepStrategy strategy = resolve(order.asked.strategy);
  request.algorithm = strategy.algorithm;
  request.placement = strategy.placement;
  request.compressor = strategy.compressor;
  request.fusion = strategy.fusion;
  return request;
}

ExitCode train_rank(const WorkOrder& order, const TrainingRequest& request, Endpoint* endpoint, const Say& say) {
  const int rank = endpoint == nullptr ? 0 : endpoint->transport().rank();
  // A GPU's rank has threads of LibTorch's and NCCL's, which need cores of their own.
  if (!request.on_gpu) pin_to_core(rank % order.cores);
  return run_rank(endpoint, say, [&] {
    const std::uint64_t digest = train(request, endpoint, [&](const StepReport& step) {
      say(StepLine{rank, step.iteration, step.warmup, step.step.value, step.exposed.value});
    });
    say(DoneLine{rank, fmt::format("{:016x}", digest)});
  });
}

}  // namespace

ExitCode run_training_worker(const WorkOrder& order, const Say& say) {
  const TrainingRequest request = request_for(order);
  if (request.algorithm.empty()) return train_rank(order, request, nullptr, say);
  const std::string& executor = order.asked.training.executor;
  if (executor.empty() || executor == "mpi") return train_rank(order, request, make_mpi_endpoint().get(), say);
  if (executor == "shm") return train_rank(order, request, make_shm_endpoint(0).get(), say);
  const auto endpoints = find_entry(executors(), executor, "executor").make_endpoints(request.world.ranks());
  return run_ranks_as_threads(request.world.ranks(), say, [&](int rank, const Say& own) {
    return train_rank(order, request, endpoints[static_cast<std::size_t>(rank)].get(), own);
  });
}

}  // namespace hbench
