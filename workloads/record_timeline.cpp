#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "collectives/base/table.hpp"
#include "workloads/engine/replica.hpp"
#include "workloads/libtorch.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

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
