#include "bench/worker/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/records/metrics.hpp"
#include "bench/worker/agreement.hpp"
#include "bench/worker/gpu_observations.hpp"
#include "bench/worker/rank_resources.hpp"
#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/gpu_facts.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/transport/host_place.hpp"
#include "workloads/simulation/step_times.hpp"
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

constexpr std::size_t kNumbers = 6;  ///< of a span
constexpr std::size_t kBegin = 3, kEnd = 4;
/// Shorter than what a launcher passes on in one piece (Open MPI: 4096 bytes).
constexpr std::size_t kSpansPerLine = 60;

Seconds now() {
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

void tell_of(Rank rank, const std::vector<double>& numbers, const Say& say) {
  SpansLine line{.rank = rank, .iteration = -1};
  const auto flush = [&] {
    if (!line.spans.empty()) say(line);
    line.spans.clear();
  };
  for (std::size_t i = 0; i + kNumbers <= numbers.size() && !std::isnan(numbers[i]); i += kNumbers) {
    const int iteration = static_cast<int>(numbers[i]);
    if (iteration != line.iteration || line.spans.size() == kSpansPerLine) flush();
    line.iteration = iteration;
    line.spans.push_back({.rank = rank,
                          .lane = kLanes.at(static_cast<std::size_t>(numbers[i + 2])),
                          .kind = kSpanKinds.at(static_cast<std::size_t>(numbers[i + 1])),
                          .begin = Seconds(numbers[i + kBegin]),
                          .end = Seconds(numbers[i + kEnd]),
                          .bucket = static_cast<int>(numbers[i + 5])});
  }
  flush();
}

}  // namespace

void tell_end(Rank rank, const TrainingEnd& end, const Say& say) {
  const auto sample = [&](std::string metric, double value, const char* unit = "1") {
    say(SamplesLine{rank, 0, std::move(metric), unit, false, 0, {value}});
  };
  if (end.consensus_distance) sample(std::string(metric::kConsensusDistance), *end.consensus_distance);
  if (!end.unseen.empty())
    for (const auto& [name, value] : Staleness::of(end.unseen).parts())
      sample(fmt::format("{}{}", metric::kStaleness, name), value);
  if (end.sent) {
    sample(fmt::format("{}within", metric::kSent), end.sent->within, "B");
    sample(fmt::format("{}between", metric::kSent), end.sent->between, "B");
  }
  say(DoneLine{rank, fmt::format("{:016x}", end.digest)});
}

TrainingRequest training_request(const WorkOrder& order) {
  TrainingRequest request;
  request.model = order.asked.workload;
  request.own = order.own;
  request.batch = order.asked.micro_batch();
  request.micro_batches = std::max(order.asked.accumulate, 1);
  request.image_size = order.asked.image_size;
  request.strategy = planned(order.asked).strategy;
  request.workers_per_node = workers_per_node(order.asked);
  request.world = request.strategy.world(order.asked.workers(), request.workers_per_node);
  for (Rank rank = 0; rank < request.world.ranks(); ++rank)
    request.node_of_rank.push_back(rank < request.world.workers
                                       ? rank / request.workers_per_node
                                       : (rank - request.world.workers) % std::max(order.asked.nodes, 1));
  request.warmup_steps = order.warmup_steps;
  request.steps = order.steps;
  request.budget = order.budget;
  request.timeout = order.timeout;
  request.traced_steps = order.traced_steps;
  request.faults = order.faults;
  if (order.delay.is_set()) request.faults.push_back({.rank = order.delay.rank, .delay = order.delay.time});
  request.checkpoint = order.checkpoint;
  request.data = order.asked.training.data;
  request.epochs = order.asked.training.epochs;
  if (order.asked.training.learning_rate > 0) request.learning_rate = order.asked.training.learning_rate;
  request.seed = order.seed;
  return request;
}

ExitCode run_training_worker(const WorkOrder& order, const Say& say) {
  if (order.emulation) return run_emulated_worker(order, say);
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

void SpanLog::keep(const StepReport& step) {
  for (const Span& span : step.spans)
    numbers_.insert(numbers_.end(), {static_cast<double>(step.iteration), static_cast<double>(span.kind),
                                     static_cast<double>(span.lane), span.begin.value, span.end.value,
                                     static_cast<double>(span.bucket)});
}

void SpanLog::tell(Endpoint* endpoint, Seconds timeout, const Say& say) {
  if (endpoint == nullptr) return tell_of(0, numbers_, say);
  to_clock_of_first(endpoint->control(), timeout);
  Agreement agreement(endpoint->control(), timeout);
  // Ranks send equally many; what they lack is no span.
  const double most = agreement.largest(static_cast<double>(numbers_.size()));
  numbers_.resize(static_cast<std::size_t>(most), std::numeric_limits<double>::quiet_NaN());
  const std::vector<std::vector<double>> all = agreement.gather(numbers_);
  for (std::size_t rank = 0; rank < all.size(); ++rank) tell_of(static_cast<Rank>(rank), all[rank], say);
}

void SpanLog::to_clock_of_first(Transport& transport, Seconds timeout) {
  if (find_host_place(transport, timeout).hosts == 1) return;
  const Seconds ahead = clock_ahead_of_first(transport, now, timeout);
  for (std::size_t i = 0; i < numbers_.size(); i += kNumbers)
    for (const std::size_t time : {i + kBegin, i + kEnd}) numbers_[time] -= ahead.value;
}

}  // namespace hbench
