#include "bench/worker/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/records/metrics.hpp"
#include "bench/worker/gpu_observations.hpp"
#include "bench/worker/rank_resources.hpp"
#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/gpu_facts.hpp"
#include "collectives/executors/executor.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

/// What a rank sees of its GPU: before its timed steps and after them, never in between. On CPU cores, nothing.
class GpuObserver {
 public:
  GpuObserver(bool on_gpu, Rank local_rank) {
    if (!on_gpu) return;
    const std::vector<std::string> addresses = cuda_pci_addresses();
    const auto gpu = static_cast<std::size_t>(gpu_of(local_rank));
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
    GpuObservations looks;
    looks.add("step_seconds", timed_, before_, after);
    for (const GpuSeries& series : looks.series()) {
      std::vector<double> known = series.values;
      std::erase_if(known, [](double value) { return std::isnan(value); });
      if (!known.empty()) say(SamplesLine{rank, 0, series.metric, std::string(series.unit), false, 0, known});
    }
  }

 private:
  void look(GpuState& at) {
    if (watch_ != nullptr) at = watch_->sample();
  }

  std::unique_ptr<GpuWatch> watch_;
  GpuState before_;
  int timed_ = 0;
};

/// Of a job over epochs one step in as many is told: they show the speed, and that it goes on.
constexpr int kToldOfEpochs = 8;

void tell_learned(Rank rank, const Learned& learned, const Say& say) {
  const auto tell = [&](std::string_view name, double value, const char* unit) {
    say(SamplesLine{rank, 0, fmt::format("{}{}", metric::kLearned, name), unit, false, learned.epoch, {value}});
  };
  tell("accuracy", learned.judged.accuracy, "1");
  tell("loss", learned.judged.loss, "1");
  tell("steps", learned.steps, "1");
  tell("seconds", learned.at.value, "s");
}

/// `pin` binds the rank to its core. A GPU's rank is not bound: LibTorch's and NCCL's threads need cores of their own.
ExitCode train_rank(const TrainingRequest& request, Endpoint* endpoint, const Say& say,
                    const std::function<void()>& pin) {
  const int rank = endpoint == nullptr ? 0 : endpoint->transport().rank();
  return run_rank(endpoint, say, [&] {
    if (!request.strategy.on_gpu) pin();
    GpuObserver observer(request.strategy.on_gpu, request.local_rank(rank));
    SpanLog spans;
    const auto on_learned = [&](const Learned& each) { tell_learned(rank, each, say); };
    const auto on_step = [&](const StepReport& step) {
      if (!step.spans.empty()) return spans.keep(step);
      if (request.epochs > 0 && !request.checkpoint && step.iteration % kToldOfEpochs != 0) return;
      say(StepLine{rank, step.iteration, step.warmup, step.step.value, step.exposed.value});
      observer.see(step);
    };
    const TrainingEnd end = train(request, endpoint, on_step, on_learned, [&](const CheckpointReport& each) {
      say(CheckpointLine{rank, each});
    });
    observer.tell(rank, say);
    if (request.traced_steps > 0) spans.tell(endpoint, request.timeout, say);
    tell_end(rank, end, say);
  });
}

}  // namespace

ExitCode run_training_worker(const WorkOrder& order, const Say& say) {
  const TrainingRequest request = training_request(order);
  if (!request.strategy.communicates()) return train_rank(request, nullptr, say, [] { pin_to_core(0); });
  const ExecutorKind& executor = *request.strategy.executor;
  if (ranks_are_processes(order.asked, request.strategy)) {
    const std::unique_ptr<RankEndpoints> endpoints = make_process_endpoints(order.timeout);
    return train_rank(request, &endpoints->of(executor.name), say,
                      [&] { pin_process(endpoints->home(), request.timeout); });
  }
  const auto endpoints = executor.make_endpoints(request.world.ranks());
  return run_ranks_as_threads(request.world.ranks(), say, [&](int rank, const Say& own) {
    return train_rank(request, endpoints[static_cast<std::size_t>(rank)].get(), own, [&] { pin_to_core(rank); });
  });
}

}  // namespace hbench
