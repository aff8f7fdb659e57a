#include "analysis/points/tracked_metric.hpp"

#include <algorithm>

#include "analysis/records/metrics.hpp"

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

}  // namespace hbench
