#include "analysis/plausible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/collectives.hpp"
#include "analysis/machine_load.hpp"
#include "analysis/tracked_metric.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// Figures that are divided by, or that nothing real has as 0.
constexpr std::array<std::string_view, 11> kPositive{
    metric::kPairedBaseline, metric::kInPlace,   metric::kOutOfPlace, metric::kStep, metric::kBenchmarkSeconds,
    metric::kBenchmarkRate,  "step_seconds_low", "step_seconds_high", "throughput",  "efficiency",
    "baseline_throughput"};

/// What is wrong with a figure; empty for nothing.
std::string_view fault_of(const Sample& sample) {
  const bool positive = std::ranges::find(kPositive, sample.metric) != kPositive.end();
  if (!positive && sample.unit != "s") return {};
  if (!std::isfinite(sample.value)) return "is not a finite number";
  if (positive && sample.value <= 0) return "is not above 0";
  return sample.value < 0 ? "is below 0" : "";
}

std::string name_of(const CaseResult& result) {
  const Case& asked = result.asked;
  if (asked.is_benchmark()) return fmt::format("{} of run {}", asked.benchmark, result.producer.run);
  const std::string run = result.producer.run > 0 ? fmt::format(" of run {}", result.producer.run) : "";
  return fmt::format("{} {} {} on {} GPUs{}", to_string(asked.evidence),
                     asked.is_collective() ? asked.collective.name : asked.workload, asked.strategy_label(), asked.gpus,
                     run);
}

[[noreturn]] void refuse(const CaseResult& result, const std::string& fault) {
  throw Error(ExitCode::wrong_data, fmt::format("{}: {}", name_of(result), fault),
              "hbench stores no such figure: the database was edited or damaged; go back to a copy of it");
}

}  // namespace

void check_plausible(const CaseResult& result) {
  if (result.status == CaseStatus::failed) return;
  if (result.asked.gpus < 1) refuse(result, fmt::format("{} workers", result.asked.gpus));
  if (result.asked.batch_per_gpu < 0) refuse(result, fmt::format("a batch of {}", result.asked.batch_per_gpu));
  for (const Sample& sample : result.samples)
    if (const std::string_view fault = fault_of(sample); !fault.empty())
      refuse(result, fmt::format("{} of launch {}, rank {}, iteration {} {}: {} {}", sample.metric, sample.launch,
                                 sample.rank, sample.iteration, fault, sample.value, sample.unit));
}

}  // namespace hbench
