#include "analysis/points/tracked_metric.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

const Sample* timed_sample(const CaseResult& result, std::string_view name) {
  const auto found = std::ranges::find_if(
      result.samples, [&](const Sample& sample) { return sample.metric == name && !sample.warmup; });
  return found == result.samples.end() ? nullptr : &*found;
}

}  // namespace

TrackedMetric tracked_metric(const CaseResult& result) {
  if (result.asked.is_benchmark()) {
    if (const Sample* rate = timed_sample(result, metric::kBenchmarkRate))
      return {.name = metric::kBenchmarkRate, .unit = rate->unit, .larger_is_worse = false};
    if (const Sample* amount = timed_sample(result, metric::kBenchmarkAmount))
      return {.name = metric::kBenchmarkAmount, .unit = amount->unit};
    return {.name = metric::kBenchmarkSeconds, .unit = "s"};
  }
  if (!result.asked.is_collective()) return {.name = metric::kStep, .unit = "s"};
  const bool only_out_of_place =
      timed_sample(result, metric::kInPlace) == nullptr && timed_sample(result, metric::kOutOfPlace) != nullptr;
  return {.name = only_out_of_place ? metric::kOutOfPlace : metric::kInPlace, .unit = "s"};
}

std::string tracked_name(const Case& asked) {
  if (asked.is_benchmark()) return asked.benchmark;
  if (asked.is_collective())
    return fmt::format("{} of {}, {} ranks, {} by {}", asked.collective.name,
                       exact_text(Bytes(static_cast<double>(asked.collective.bytes))), asked.gpus,
                       asked.strategy.label(), asked.collective.executor);
  const std::string how = asked.strategy.communicates() ? asked.strategy_label() : "alone";
  return fmt::format(
      "{}, {} {}, {}, batch {}", asked.workload, asked.gpus,
      asked.training.on_gpu() ? (asked.gpus == 1 ? "GPU" : "GPUs") : (asked.gpus == 1 ? "rank" : "ranks"), how,
      asked.batch_label());
}

}  // namespace hbench
