#include "analysis/points/plausible.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/points/collectives.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "analysis/records/case_fields.hpp"
#include "analysis/records/machine_facts.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// A picosecond: processors' clocks tick a hundred times less often.
constexpr double kLeastSeconds = 1e-12;
/// Three centuries. Times of day, which are seconds since 1970, are less.
constexpr double kMostSeconds = 1e10;
/// One in `kMostSeconds`, and what a million of the largest machines (10^18 operations a second) would reach.
constexpr double kLeastRate = 1 / kMostSeconds, kMostRate = 1e24;
/// Of bytes and elements: an exabyte is more than any case sends.
constexpr double kMostCount = 1e18;
/// Of GPUs, samples of a batch and whatever else a case counts, but bytes: flags take no more.
constexpr double kMostOfACase = 1e6;

struct Range {
  std::string_view metric;
  double least, most;
};
/// Figures that are divided by, or that nothing real has as 0; and counts.
constexpr std::array kRanges{Range{metric::kStep, kLeastSeconds, kMostSeconds},
                             Range{"step_seconds_low", kLeastSeconds, kMostSeconds},
                             Range{"step_seconds_high", kLeastSeconds, kMostSeconds},
                             Range{"step_seconds_better", kLeastSeconds, kMostSeconds},
                             Range{"step_seconds_worse", kLeastSeconds, kMostSeconds},
                             Range{metric::kPairedBaseline, kLeastSeconds, kMostSeconds},
                             Range{metric::kInPlace, kLeastSeconds, kMostSeconds},
                             Range{metric::kOutOfPlace, kLeastSeconds, kMostSeconds},
                             Range{metric::kInPlaceLow, kLeastSeconds, kMostSeconds},
                             Range{metric::kInPlaceHigh, kLeastSeconds, kMostSeconds},
                             Range{metric::kBenchmarkSeconds, kLeastSeconds, kMostSeconds},
                             Range{metric::kBenchmarkRate, kLeastRate, kMostRate},
                             Range{metric::kBenchmarkAmount, kLeastRate, kMostRate},
                             Range{"throughput", kLeastRate, kMostRate},
                             Range{"baseline_throughput", kLeastRate, kMostRate},
                             Range{"efficiency", 1e-9, 100},
                             Range{metric::kInPlaceWrong, 0, kMostCount},
                             Range{metric::kOutOfPlaceWrong, 0, kMostCount},
                             Range{metric::kWireBytes, 0, kMostCount},
                             Range{metric::kPlainWireBytes, 0, kMostCount}};
constexpr Range kAnyTime{"", 0, kMostSeconds};

/// The range of a sample's figure; nothing where all numbers may be.
const Range* range_of(const Sample& sample) {
  const auto* known = std::ranges::find(kRanges, sample.metric, &Range::metric);
  if (known != kRanges.end()) return known;
  return sample.unit == "s" ? &kAnyTime : nullptr;
}

std::string name_of(const CaseResult& result) {
  const Case& asked = result.asked;
  const std::string run = result.producer.run > 0 ? fmt::format(" of run {}", result.producer.run) : "";
  if (asked.is_benchmark()) return asked.benchmark + run;
  return fmt::format("{} {} {} on {} GPUs{}", to_string(asked.evidence),
                     asked.is_collective() ? asked.collective.name : asked.workload, asked.strategy_label(), asked.gpus,
                     run);
}

std::string fault_of_fields(const Case& asked) {
  if (asked.gpus < 1) return fmt::format("{} GPUs", asked.gpus);
  for (const CaseField& field : case_fields()) {
    const FieldValue value = field.get(asked);
    const double most = field.name == "bytes" ? kMostCount : kMostOfACase;
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    if ((whole != nullptr && (*whole < 0 || static_cast<double>(*whole) > most)) ||
        (real != nullptr && !(*real >= 0 && *real <= kMostRate)))
      return std::visit([&](const auto& number) { return fmt::format("{} is {}", field.name, number); }, value);
  }
  return "";
}

/// \pre the fields are plausible
std::string fault_of(const Sample& sample, const Case& asked) {
  const std::int64_t ranks = std::int64_t{asked.gpus} * std::max(asked.processes_per_gpu, 1) + asked.strategy.servers;
  const std::string where = fmt::format("{} of launch {}, rank {}, iteration {}", sample.metric, sample.launch,
                                        sample.rank, sample.iteration);
  if (sample.launch < 0 || sample.iteration < 0) return where + ": launches and iterations are counted from 0";
  if (sample.rank < 0 || sample.rank >= ranks) return fmt::format("{}: the case has {} ranks", where, ranks);
  const std::string_view fault = implausible(sample);
  return fault.empty() ? "" : fmt::format("{} {}: {} {}", where, fault, sample.value, sample.unit);
}

bool has_timed(const CaseResult& result, std::string_view name) {
  return std::ranges::any_of(result.samples, [&](const Sample& each) { return each.metric == name && !each.warmup; });
}

/// What is wrong with what a case has.
std::string fault_of(const CaseResult& result) {
  if (result.status == CaseStatus::failed) return "";
  std::string fault = fault_of_fields(result.asked);
  for (auto each = result.samples.begin(); fault.empty() && each != result.samples.end(); ++each)
    fault = fault_of(*each, result.asked);
  return fault.empty() ? "" : fmt::format("{}: {}", name_of(result), fault);
}

}  // namespace

std::string_view implausible(const Sample& sample) {
  if (std::isnan(sample.value)) return "is not a number";
  const Range* const range = range_of(sample);
  if (range == nullptr) return "";
  if (!std::isfinite(sample.value)) return "is not a finite number";
  if (range->least > 0 && sample.value <= 0) return "is not above 0";
  if (sample.value < 0) return "is below 0";
  if (sample.value < range->least) return "is too small for anything real";
  return sample.value > range->most ? "is too large for anything real" : "";
}

std::string implausible(const CaseResult& result) {
  if (std::string fault = fault_of(result); !fault.empty() || result.status == CaseStatus::failed) return fault;
  // A collective may have been checked, and not timed.
  if (has_figure(result) || has_timed(result, metric::kInPlaceWrong)) return "";
  return name_of(result) + ": it is done, and has no timed sample of what it is known by";
}

std::string implausible(const Run& run, std::chrono::sys_seconds now) {
  const std::string tomorrow = fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", now + std::chrono::days(1));
  if (is_utc_time(run.started_at) && run.started_at <= tomorrow) return "";
  const std::string name = run.id > 0 ? fmt::format("run {}", run.id) : "the run";
  return fmt::format("{} began at '{}', which is {}", name, run.started_at,
                     is_utc_time(run.started_at) ? "in the future" : "no time");
}

bool has_figure(const CaseResult& result) {
  if (result.asked.is_of_others()) return has_timed(result, "throughput") || has_timed(result, "efficiency");
  return has_timed(result, tracked_metric(result).name);
}

void check_plausible(const CaseResult& result) {
  if (const std::string fault = fault_of(result); !fault.empty())
    throw Error(ExitCode::wrong_data, fault,
                "hbench stores no such figure: the database was edited or damaged; go back to a copy of it");
}

}  // namespace hbench
