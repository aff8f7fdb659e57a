#include "bench/worker/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/strategy.hpp"
#include "bench/worker/cores.hpp"
#include "bench/worker/gpu_observations.hpp"
#include "bench/worker/rank_endpoints.hpp"
#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/gpu_facts.hpp"
#include "collectives/executors/executor.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

TrainingRequest request_for(const WorkOrder& order) {
  TrainingRequest request;
  request.model = order.asked.workload;
  request.batch = order.asked.batch_per_gpu;
  request.image_size = order.asked.image_size;
  request.strategy = parse_strategy(order.asked);
  request.world = request.strategy.world(order.asked.gpus, order.asked.gpus);  // one node
  request.warmup_steps = order.warmup_steps;
  request.steps = order.steps;
  request.budget = order.budget;
  request.timeout = order.timeout;
  request.traced_steps = order.traced_steps;
  request.delay = order.delay;
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

/// The spans of a rank's traced steps, said when all steps are done.
class SpanLog {
 public:
  void keep(const StepReport& step) {
    for (std::size_t begin = 0; begin < step.spans.size(); begin += kSpansPerLine) {
      const auto some = step.spans.subspan(begin, std::min(kSpansPerLine, step.spans.size() - begin));
      lines_.push_back({some.front().rank, step.iteration, {some.begin(), some.end()}});
    }
  }

  void tell(const Say& say) const {
    for (const SpansLine& line : lines_) say(line);
  }

 private:
  /// Shorter than what a launcher passes on in one piece (Open MPI: 4096 bytes).
  static constexpr std::size_t kSpansPerLine = 60;

  std::vector<SpansLine> lines_;
};

/// `pin` binds the rank to its core. A GPU's rank is not bound: LibTorch's and NCCL's threads need cores of their own.
ExitCode train_rank(const TrainingRequest& request, Endpoint* endpoint, const Say& say,
                    const std::function<void()>& pin) {
  const int rank = endpoint == nullptr ? 0 : endpoint->transport().rank();
  return run_rank(endpoint, say, [&] {
    if (!request.strategy.on_gpu) pin();
    GpuObserver observer(request.strategy.on_gpu, rank);
    SpanLog spans;
    const std::uint64_t digest = train(request, endpoint, [&](const StepReport& step) {
      if (!step.spans.empty()) return spans.keep(step);
      say(StepLine{rank, step.iteration, step.warmup, step.step.value, step.exposed.value});
      observer.see(step);
    });
    observer.tell(rank, say);
    spans.tell(say);
    say(DoneLine{rank, fmt::format("{:016x}", digest)});
  });
}

}  // namespace

ExitCode run_training_worker(const WorkOrder& order, const Say& say) {
  const TrainingRequest request = request_for(order);
  if (!request.strategy.communicates()) return train_rank(request, nullptr, say, [] { pin_to_core(0); });
  const ExecutorKind& executor = *request.strategy.executor;
  if (!executor.ranks_are_threads()) {
    const std::unique_ptr<RankEndpoints> endpoints = make_process_endpoints();
    return train_rank(request, &endpoints->of(executor.name), say,
                      [&] { pin_process(endpoints->home(), request.timeout); });
  }
  const auto endpoints = executor.make_endpoints(request.world.ranks());
  return run_ranks_as_threads(request.world.ranks(), say, [&](int rank, const Say& own) {
    return train_rank(request, endpoints[static_cast<std::size_t>(rank)].get(), own, [&] { pin_to_core(rank); });
  });
}

}  // namespace hbench
