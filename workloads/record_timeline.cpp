#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "collectives/base/table.hpp"
#include "workloads/engine/replica.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

/// Steps that only warm up.
constexpr int kWarmup = 2;

/// Observations in seconds.
struct Recorded {
  std::vector<double> forward, backward;
  std::vector<std::vector<double>> ready;  ///< per parameter, since the backward pass began
};

double seconds(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

Seconds median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return Seconds(values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2);
}

void record_step(Replica& replica, int step, Recorded& recorded) {
  const auto begin = Clock::now();
  replica.forward(step);
  const auto turn = Clock::now();
  replica.backward([&](int parameter) {
    recorded.ready[static_cast<std::size_t>(parameter)].push_back(seconds(turn, Clock::now()));
  });
  // Too small a rate to change anything; it takes the same time.
  replica.apply(1e-9);
  recorded.forward.push_back(seconds(begin, turn));
  recorded.backward.push_back(seconds(turn, Clock::now()));
}

Recorded record(Replica& replica, int steps) {
  const std::vector<std::vector<double>> none(replica.tensor_elements().size());
  Recorded warmup{.forward = {}, .backward = {}, .ready = none};
  Recorded recorded = warmup;
  for (int step = 0; step < kWarmup; ++step) record_step(replica, step, warmup);
  for (int step = 0; step < steps; ++step) record_step(replica, step, recorded);
  return recorded;
}

}  // namespace

StepTimeline record_timeline(std::string_view model, int batch, int image_size, int steps, int threads) {
  const ModelEntry& entry = find_entry(models(), model, "model");
  if (image_size < entry.smallest_image || batch < 1 || steps < 1) {
    throw Error(ExitCode::usage,
                fmt::format("{} needs images of at least {} pixels, a batch and a step", model, entry.smallest_image));
  }
  Replica replica(entry, {.batch = batch, .image_size = image_size, .threads = threads});
  const Recorded recorded = record(replica, steps);
  StepTimeline timeline{
      .batch = batch, .forward = median(recorded.forward), .backward = median(recorded.backward), .gradients = {}};
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
