#include "bench/training_worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/collective/gpu_looks.hpp"
#include "bench/plan.hpp"
#include "bench/rank_endpoints.hpp"
#include "bench/strategy.hpp"
#include "collectives/executors/cuda.hpp"
#include "collectives/executors/gpu_facts.hpp"
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
  request.precision = precision_of(order.asked.training);
  if (order.asked.strategy.algorithm == "none") return request;
  const StepStrategy strategy = resolve(order.asked.strategy);
  request.algorithm = strategy.algorithm;
  request.placement = strategy.placement;
  request.compressor = strategy.compressor;
  request.fusion = strategy.fusion;
  return request;
}

/// What a rank sees of its GPU: before its timed steps and after them, never in between. On CPU cores, nothing.
class GpuObserver {
 public:
  GpuObserver(bool on_gpu, Rank rank) {
    if (!on_gpu) return;
    const std::vector<std::string> addresses = cuda_pci_addresses();
    const auto gpu = static_cast<std::size_t>(gpu_of(rank));
    if (gpu < addresses.size()) watch_ = watch_gpu(addresses[gpu]);
    look(before_);
  }

  /// Looks again once the GPU has worked, in a step that is not timed.
  void see(const StepReport& step) {
    if (!step.warmup) ++timed_;
    if (step.warmup && step.iteration == 0) look(before_);
  }

  void tell(Rank rank, const Say& say) {
    if (watch_ == nullptr) return;
    GpuState after;
    look(after);
    GpuLooks looks;
    looks.add("step_seconds", timed_, before_, after);
    for (const GpuSeries& series : looks.series()) {
      std::vector<double> known = series.values;
      std::erase_if(known, [](double value) { return std::isnan(value); });
      if (!known.empty()) say(SamplesLine{rank, 0, series.metric, std::string(series.unit), false, 0, known});
    }
  }

 private:
  void look(GpuState& at) {
    if (watch_ != nullptr) at = watch_->look();
  }

  std::unique_ptr<GpuWatch> watch_;
  GpuState before_;
  int timed_ = 0;
};

ExitCode train_rank(const WorkOrder& order, const TrainingRequest& request, Endpoint* endpoint, const Say& say) {
  const int rank = endpoint == nullptr ? 0 : endpoint->transport().rank();
  // A GPU's rank has threads of LibTorch's and NCCL's, which need cores of their own.
  if (!request.on_gpu) pin_to_core(rank % order.cores);
  return run_rank(endpoint, say, [&] {
    GpuObserver observer(request.on_gpu, rank);
    const std::uint64_t digest = train(request, endpoint, [&](const StepReport& step) {
      say(StepLine{rank, step.iteration, step.warmup, step.step.value, step.exposed.value});
      observer.see(step);
    });
    observer.tell(rank, say);
    say(DoneLine{rank, fmt::format("{:016x}", digest)});
  });
}

}  // namespace

ExitCode run_training_worker(const WorkOrder& order, const Say& say) {
  const TrainingRequest request = request_for(order);
  if (request.algorithm.empty()) return train_rank(order, request, nullptr, say);
  const ExecutorKind& executor = executor_of(order.asked.training);
  if (!executor.ranks_are_threads())
    return train_rank(order, request, &make_process_endpoints()->of(executor.name), say);
  const auto endpoints = executor.make_endpoints(request.world.ranks());
  return run_ranks_as_threads(request.world.ranks(), say, [&](int rank, const Say& own) {
    return train_rank(order, request, endpoints[static_cast<std::size_t>(rank)].get(), own);
  });
}

}  // namespace hbench
