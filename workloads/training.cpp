#include "workloads/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "collectives/cuda/cuda.hpp"
#include "workloads/data/dataset.hpp"
#include "workloads/engine/digest.hpp"
#include "workloads/engine/replica.hpp"
#include "workloads/engine/worker.hpp"
#include "workloads/libtorch.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

void require(bool holds, const std::string& message, const std::string& hint = {}) {
  if (!holds) throw Error(ExitCode::usage, message, hint);
}

void check_images(const ModelEntry& model, int image_size) {
  require(image_size >= model.smallest_image,
          fmt::format("{} needs images of {} pixels and more, not {}", model.name, model.smallest_image, image_size),
          fmt::format("give an image size of {} or more", model.smallest_image));
}

void check_strategy(const TrainingRequest& request, const Endpoint* endpoint) {
  require(!request.strategy.communicates() == (endpoint == nullptr),
          "training with an algorithm needs ranks to talk to, and without one there are none");
  if (!request.strategy.communicates()) {
    require(request.world.ranks() == 1, "without an algorithm only one process can train");
    return;
  }
  require(request.strategy.fusion.fusion != nullptr, "training needs a fusion policy");
  require(!request.strategy.algorithm.uses_servers() || request.strategy.placement != nullptr,
          fmt::format("{} needs a placement of tensors on servers", request.strategy.algorithm.text()));
  for (const std::string& refusal :
       {refuse_strategy(request.strategy, request.world), refuse_engine(request.strategy, false),
        request.checkpoint ? refuse_checkpoints(request.strategy, request.world) : ""})
    require(refusal.empty(), refusal);
}

void check_request(const TrainingRequest& request, Endpoint* endpoint) {
  require(request.batch >= 1, "the batch must be at least 1");
  if (!request.own && request.data.empty())
    check_images(find_entry(models(), request.model, "model"), request.image_size);
  require_place(request.strategy.on_gpu, request.strategy.precision);
  require(request.steps >= 1 && request.warmup_steps >= 0, "at least one step must be timed");
  check_strategy(request, endpoint);
  if (endpoint == nullptr) return;
  require(endpoint->transport().size() == request.world.ranks(),
          fmt::format("the job has {} ranks where {} workers and servers were asked for", endpoint->transport().size(),
                      request.world.ranks()),
          "start as many ranks as there are workers and dedicated servers");
}

/// Batches of a worker and an epoch.
int batches_of_epoch(const TrainingRequest& request, const Dataset& data) {
  return EpochOrder(data.train.count(), request.world.workers, 0, request.batch, request.seed).batches();
}

StepPlan plan_of(const TrainingRequest& request) { return request.strategy.method.plan(request.strategy.overlap); }

/// The same with as many steps as the epochs have. What is left of a cycle of the plan at the end is done, too.
TrainingRequest with_steps(TrainingRequest request, const Dataset& data) {
  require(request.epochs >= 1, "data is learned in at least one epoch", "give --epochs 10");
  require(!request.own || request.own->loss.empty(), "a model with a loss of its own names no classes to be judged by");
  const int steps = request.epochs * batches_of_epoch(request, data) / request.micro_batches;
  request.warmup_steps = std::min(request.warmup_steps, steps / 4);
  request.steps = std::max(1, steps - plan_of(request).start() - request.warmup_steps);
  request.budget = Seconds(0);
  return request;
}

/// Keeps the model after each epoch, and judges what was kept once all steps are done: until then nobody waits for it.
class EpochLog {
 public:
  EpochLog(const TrainingRequest& request, Replica& replica, const Dataset& data)
      : replica_(replica),
        micro_batches_(request.micro_batches),
        per_epoch_(batches_of_epoch(request, data)),
        cycle_(plan_of(request).cycle()) {}

  /// After each step that is reported.
  void see(const StepReport& step) {
    // A step begins where the one before has ended, and so before the model was kept.
    trained_ += step.step * cycle_ - std::exchange(kept_, Seconds(0));
    const int steps = (step.iteration + 1) * cycle_;
    // Of a job that goes on from another's state, the epochs before are not known.
    const int done = epochs_by(steps);
    if (done <= (epochs_.empty() ? epochs_by(steps - cycle_) : epochs_.back().epoch)) return;
    const auto begin = std::chrono::steady_clock::now();
    replica_.keep_state();
    kept_ = Seconds(seconds_since(begin));
    epochs_.push_back({.epoch = done, .steps = steps, .at = trained_});
  }

  void judge(const std::function<void(const Learned&)>& tell) {
    Learned last = epochs_.empty() ? Learned() : epochs_.back();
    ++last.epoch;
    last.judged = replica_.judge();
    for (std::size_t i = 0; i < epochs_.size(); ++i) {
      epochs_[i].judged = replica_.judge_kept(static_cast<int>(i));
      tell(epochs_[i]);
    }
    tell(last);
  }

 private:
  /// An epoch may end within a step's micro-batches.
  int epochs_by(int steps) const { return steps * micro_batches_ / per_epoch_; }

  Replica& replica_;
  int micro_batches_, per_epoch_;
  int cycle_;
  Seconds trained_, kept_;       ///< in all steps, and for keeping the last model
  std::vector<Learned> epochs_;  ///< not judged yet
};

Replica make_replica(const TrainingRequest& request, Rank rank, const Dataset* data) {
  const ReplicaOptions options{
      .batch = request.batch,
      .image_size = request.image_size,
      .seed = request.seed,
      .rank = rank,
      .workers = request.world.workers,
      .freeze_batch_norm = request.freeze_batch_norm,
      .threads = request.threads,
      .gpu = request.strategy.on_gpu ? std::optional(gpu_of(request.local_rank(rank))) : std::nullopt,
      .precision = request.strategy.precision,
      .channels_last = request.strategy.on_gpu,
      .optimizer = request.strategy.trained_with(),
      .data = data};
  return request.own ? Replica(*request.own, options) : Replica(find_entry(models(), request.model, "model"), options);
}

/// Steps that only warm up.
constexpr int kWarmup = 2;

/// Observations in seconds.
struct Recorded {
  std::vector<double> forward, backward, update;
  std::vector<std::vector<double>> ready;  ///< per parameter, since the backward pass began
};

Seconds median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return Seconds(values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2);
}

void record_step(Replica& replica, int step, Recorded& recorded) {
  Device& device = replica.device();
  const Event begin = device.record_timed_event();
  replica.forward(step);
  const Event turn = device.record_timed_event();
  std::vector<std::pair<int, Event>> ready;
  replica.backward([&](int parameter) { ready.emplace_back(parameter, device.record_timed_event()); });
  const Event computed = device.record_timed_event();
  // Too small a rate to change anything; it takes the same time.
  replica.apply(1e-9, 1);
  const Event end = device.record_timed_event();
  recorded.forward.push_back(device.elapsed(begin, turn).value);
  recorded.backward.push_back(device.elapsed(turn, computed).value);
  recorded.update.push_back(device.elapsed(computed, end).value);
  for (const auto& [parameter, event] : ready)
    recorded.ready[static_cast<std::size_t>(parameter)].push_back(device.elapsed(turn, event).value);
}

Recorded record(Replica& replica, int steps) {
  const std::vector<std::vector<double>> none(replica.tensor_elements().size());
  Recorded warmup{.forward = {}, .backward = {}, .update = {}, .ready = none};
  Recorded recorded = warmup;
  for (int step = 0; step < kWarmup; ++step) record_step(replica, step, warmup);
  for (int step = 0; step < steps; ++step) record_step(replica, step, recorded);
  return recorded;
}

Replica make_replica(const RecordingRequest& request) {
  const ReplicaOptions options{.batch = request.batch,
                               .image_size = request.image_size,
                               .threads = request.threads,
                               .gpu = request.on_gpu ? std::optional(0) : std::nullopt,
                               .precision = request.precision,
                               .channels_last = request.on_gpu,
                               .optimizer = request.optimizer.value_or(parse_optimizer("sgd"))};
  if (request.own) return {*request.own, options};
  const ModelEntry& entry = find_entry(models(), request.model, "model");
  if (request.image_size < entry.smallest_image || request.batch < 1 || request.steps < 1)
    throw Error(ExitCode::usage, fmt::format("{} needs images of at least {} pixels, a batch and a step", request.model,
                                             entry.smallest_image));
  return {entry, options};
}

}  // namespace

TrainingEnd train(const TrainingRequest& asked, Endpoint* endpoint,
                  const std::function<void(const StepReport&)>& on_step,
                  const std::function<void(const Learned&)>& on_learned,
                  const std::function<void(const CheckpointReport&)>& on_checkpoint) {
  const int image_size = asked.own ? static_cast<int>(asked.own->input.sizes.back()) : asked.image_size;
  const auto data = asked.data.empty() ? std::nullopt : std::optional(load_dataset(asked.data, image_size));
  const TrainingRequest request = data ? with_steps(asked, *data) : asked;
  check_request(request, endpoint);
  const Rank rank = endpoint == nullptr ? 0 : endpoint->transport().rank();
  if (rank >= request.world.workers) {
    serve(request, *endpoint);
    return {};
  }
  Replica replica = make_replica(request, rank, data ? &*data : nullptr);
  std::optional<EpochLog> epochs;
  if (data && rank == 0) epochs.emplace(request, replica, *data);
  const auto see = [&](const StepReport& step) {
    on_step(step);
    if (epochs) epochs->see(step);
  };
  TrainingEnd end;
  if (endpoint == nullptr) {
    train_alone(replica, request, see, on_checkpoint);
    end.digest = replica.digest();
  } else {
    end = train_together(replica, request, *endpoint, see, on_checkpoint);
    compare_digests(end.digest, request, endpoint->control());
  }
  if (epochs) epochs->judge(on_learned);
  return end;
}

std::uint64_t loss_fingerprint() {
  TrainingRequest request{.model = "lenet5", .world = {.workers = 1}, .strategy = {}, .warmup_steps = 0, .steps = 30};
  request.strategy.fusion = parse_fusion("none");
  std::vector<double> losses;
  const TrainingEnd end = train(request, nullptr, [&](const StepReport& report) { losses.push_back(report.loss); });
  return digest(std::as_bytes(std::span(losses)), end.digest);
}

StepTimeline record_timeline(const RecordingRequest& request) {
  require_place(request.on_gpu, request.precision);
  Replica replica = make_replica(request);
  const Recorded recorded = record(replica, request.steps);
  StepTimeline timeline{.batch = request.batch,
                        .forward = median(recorded.forward),
                        .backward = median(recorded.backward),
                        .update = median(recorded.update),
                        .gradients = {}};
  const auto names = replica.tensor_names();
  const auto elements = replica.tensor_elements();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Seconds ready = std::min(median(recorded.ready[i]), timeline.backward);
    timeline.gradients.push_back({.tensor = names[i], .elements = elements[i], .ready = ready});
  }
  std::ranges::stable_sort(timeline.gradients, {}, &GradientEvent::ready);
  return timeline;
}

}  // namespace hbench
