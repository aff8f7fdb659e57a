#include "analysis/prediction/one_gpu.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/prediction/case_memory.hpp"
#include "analysis/records/metrics.hpp"
#include "workloads/step/divided_model.hpp"

namespace hbench {
namespace {

/// Of one GPU at the batch at which it is known.
GpuRate rate_of(const Case& asked, const Profile& cluster, const Trace& recorded) {
  if (asked.single_gpu_rate > 0) return {.samples_per_second = asked.single_gpu_rate};
  const auto known = cluster.rates.find(recorded.name);
  if (known != cluster.rates.end()) {
    GpuRate rate = known->second;
    if (rate.batch == 0) rate.batch = recorded.timeline.batch;
    return rate;
  }
  return {.samples_per_second = recorded.timeline.samples_per_second(), .batch = recorded.timeline.batch};
}

/// Seconds of a step by batch, where rates are known.
std::map<int, double> known_steps(const GpuRate& rate) {
  std::map<int, double> steps;
  for (const auto& [batch, samples_per_second] : rate.others) steps[batch] = batch / samples_per_second;
  steps[rate.batch] = rate.batch / rate.samples_per_second;
  return steps;
}

/// Seconds of both passes that the batch does not change: of kernels that are too small to fill a GPU, or are launched
/// no faster, of each layer.
double fixed_part(const StepTimeline& timeline) {
  return std::min(kLeastOfTensor.value * static_cast<double>(timeline.gradients.size()),
                  kMostFixedPart * timeline.passes().value);
}

/// At a batch beyond those that are known, from the nearest of them.
OneGpu beyond(const GpuRate& rate, int known, double seconds, int batch, const StepTimeline& recorded) {
  const StepTimeline there = recorded.rescaled(known / seconds, known);
  const double larger = batch / static_cast<double>(known), fixed = fixed_part(there);
  const double step = fixed + (there.passes().value - fixed) * larger + there.update.value;
  return {.samples_per_second = batch / step,
          .factor = std::exp(std::hypot(std::log(rate.factor), std::log(other_batch_factor(known, batch)))),
          .known_at = known};
}

OneGpu at_batch(const GpuRate& rate, int batch, const StepTimeline& recorded) {
  if (batch == rate.batch) return {.samples_per_second = rate.samples_per_second, .factor = rate.factor};
  const std::map<int, double> steps = known_steps(rate);
  const auto above = steps.lower_bound(batch);
  if (above == steps.end()) return beyond(rate, steps.rbegin()->first, steps.rbegin()->second, batch, recorded);
  if (above->first == batch) return {.samples_per_second = batch / above->second, .factor = rate.factor};
  if (above == steps.begin()) return beyond(rate, above->first, above->second, batch, recorded);
  const auto below = std::prev(above);
  const double share = (batch - below->first) / static_cast<double>(above->first - below->first);
  return {.samples_per_second = batch / std::lerp(below->second, above->second, share), .factor = rate.factor};
}

/// The optimizer that was asked for as the step's end, where nobody recorded an update: as long as memory takes to move
/// its numbers. What a GPU does in a second has the usual optimizer's time in it, which is taken out of the passes, but
/// no more than half of them: there the memory's rate would be in doubt.
StepTimeline with_update(const StepTimeline& step, const PlannedCase& planned, const Catalog& catalog) {
  const auto& [asked, strategy] = planned;
  const BytesPerSecond memory = catalog.profiles.at(asked.profile).memory_rate;
  if (!strategy.optimizer || step.update.value > 0 || memory.value <= 0) return step;
  const Trace& trace = catalog.traces.at(asked.workload);
  const NumberBytes bytes = number_bytes_of(asked, catalog);
  const Seconds usual = step_memory(trace, 1, bytes).moved_by_update() / memory;
  const Seconds passes = std::max(step.passes() / 2, step.passes() - usual);
  StepTimeline timeline = step.rescaled(step.batch / passes.value, step.batch);
  timeline.update = step_memory(trace, 1, bytes, Recomputation::none, strategy.optimizer).moved_by_update() / memory;
  return timeline;
}

}  // namespace

double other_batch_factor(int known, int batch) {
  const double larger = batch / static_cast<double>(known);
  const double factor = larger / (kMostFixedPart + (1 - kMostFixedPart) * larger);
  return std::max(factor, 1 / factor);
}

OneGpu one_gpu(const PlannedCase& planned, const Catalog& catalog) {
  const Case& asked = planned;
  const Trace& recorded = catalog.traces.at(asked.workload);
  const GpuRate rate = rate_of(asked, catalog.profiles.at(asked.profile), recorded);
  // What is given is taken at its word: it has no batch.
  if (rate.batch > 0) return at_batch(rate, planned.micro_batch(), recorded.timeline);
  return {.samples_per_second = rate.samples_per_second, .factor = rate.factor};
}

void add_other_batch(CaseResult& result, const OneGpu& one) {
  if (one.known_at == 0) return;
  result.samples.push_back(
      {.metric = std::string(metric::kRateBatch), .value = static_cast<double>(one.known_at), .unit = "samples"});
  result.samples.push_back({.metric = std::string(metric::kRateFactor), .value = one.factor, .unit = "1"});
}

StepTimeline timeline_of(const PlannedCase& planned, const Catalog& catalog, double faster) {
  const auto& [asked, strategy] = planned;
  const Trace& recorded = catalog.traces.at(asked.workload);
  const StepTimeline of_one =
      recorded.timeline.rescaled(one_gpu(planned, catalog).samples_per_second * faster, planned.micro_batch());
  StepTimeline timeline =
      with_update(of_one, planned, catalog).recomputed(recomputed_share(recorded, strategy.recomputation));
  const int micro_batches = std::max(asked.accumulate, 1);
  const MethodChoice& method = strategy.method;
  timeline =
      method.exchanges_each_micro_batch() ? timeline.repeated(micro_batches) : timeline.accumulated(micro_batches);
  const NumberBytes bytes = number_bytes_of(asked, catalog);
  if (!method.division.none() && recorded.shape) timeline.blocks = blocks_of(*recorded.shape, bytes.activation);
  // Compressors code float32.
  const bool half = bytes.half_gradients() && !asked.strategy.compresses();
  if (half) timeline = timeline.with_half_gradients();
  const BytesPerSecond memory = catalog.profiles.at(asked.profile).memory_rate;
  if (memory.value > 0) timeline.memory_pass = Bytes(bytes.weight * recorded.elements()) / memory;
  timeline.gathered = bytes.gathered() / (half ? 2 : 4);
  return timeline;
}

}  // namespace hbench
