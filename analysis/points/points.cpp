#include "analysis/points/points.hpp"

#include <fmt/format.h>

#include "analysis/points/plausible.hpp"
#include "analysis/points/timed_steps.hpp"
#include "analysis/points/unknowns.hpp"
#include "analysis/published/published.hpp"
#include "analysis/records/emulation.hpp"
#include "analysis/statistics/statistics.hpp"
#include "analysis/trace/ledger.hpp"

namespace hbench {
namespace {

/// A difference of efficiencies that a reader who divides the figures beside it would wonder about.
constexpr double kWorthAWord = 0.005;

void set_throughput(Point& point, double throughput) {
  const double samples = static_cast<double>(point.asked.workers()) * point.asked.batch_per_gpu;
  point.throughput = throughput;
  point.throughput_per_gpu = throughput / point.asked.gpus;
  point.step_seconds = throughput > 0 ? samples / throughput : 0;
}

void set_step(Point& point, double seconds) {
  const double samples = static_cast<double>(point.asked.workers()) * point.asked.batch_per_gpu;
  set_throughput(point, seconds > 0 ? samples / seconds : 0);
  point.step_seconds = seconds;
}

std::string baseline_in_words(int batch, double step) {
  return fmt::format("one process without communication, {:.4g} samples/s", step > 0 ? batch / step : 0);
}

/// All processes take equal batches, so a ratio of rates per process is the inverse ratio of steps; a GPU has the rate
/// of all that share it.
void set_efficiency(Point& point, const RatioEstimate& estimate) {
  const double sharing = std::max(point.asked.processes_per_gpu, 1);
  point.efficiency = sharing * estimate.ratio;
  if (!estimate.interval) return;
  point.efficiency_low = sharing * estimate.interval->low;
  point.efficiency_high = sharing * estimate.interval->high;
  point.interval = estimate.in_words;
}

bool all_positive(const Launches& launches) {
  return std::ranges::all_of(
      launches, [](const Launch& launch) { return std::ranges::all_of(launch, [](double step) { return step > 0; }); });
}

std::vector<TimedLaunch> timed_medians(const Launches& launches, const std::vector<PairedLaunch>& pairs) {
  std::vector<TimedLaunch> timed;
  for (const PairedLaunch& pair : pairs) timed.push_back({median(pair.own), median(pair.baseline)});
  if (timed.empty())
    for (const Launch& launch : launches) timed.push_back({.step = median(launch)});
  return timed;
}

void compare_with_pairs(Point& point, const std::vector<PairedLaunch>& pairs) {
  Launches baseline, own;
  for (const PairedLaunch& pair : pairs) {
    baseline.push_back(pair.baseline);
    own.push_back(pair.own);
  }
  if (!all_positive(baseline) || !all_positive(own)) return;
  const double alone = median_of_launches(baseline);
  point.baseline = baseline_in_words(point.asked.batch_per_gpu, alone);
  set_efficiency(point, paired_ratio(pairs));
  const double of_medians = std::max(point.asked.processes_per_gpu, 1) * alone / point.step_seconds;
  if (std::abs(of_medians - *point.efficiency) > kWorthAWord)
    point.baseline += fmt::format("; the efficiency is the middle one of {} pairs of launches, and {:.1f} % by medians",
                                  pairs.size(), 100 * of_medians);
}

void compare_with_baseline(Point& point, const TimedSteps& steps, const CaseResult& base) {
  const TimedSteps base_steps = timed_steps(base);
  if (base_steps.launches.empty()) return;
  const double base_step = median_of_launches(base_steps.launches);
  point.baseline = baseline_in_words(base.asked.batch_per_gpu, base_step);
  set_efficiency(point, {.ratio = base_step / point.step_seconds});
  // A case is exactly as fast as itself, however uncertain its speed.
  if (base.asked.key() == point.asked.key()) return;
  if (all_positive(base_steps.launches) && all_positive(steps.launches))
    set_efficiency(point, unpaired_ratio(base_steps.launches, steps.launches));
}

/// Says it beside the baseline where the speed of one GPU is known at another batch than the case's.
void note_rate(Point& point, const CaseResult& result) {
  const std::optional<double> known_at = value_of(result, metric::kRateBatch);
  if (!known_at) return;
  point.rate_factor = value_of(result, metric::kRateFactor).value_or(1);
  point.baseline += fmt::format("; known at a batch of {:g}, it may be {:.2g} times higher or lower at {}", *known_at,
                                point.rate_factor, point.asked.micro_batch());
}

/// One GPU of the cluster alone: its replay takes what the timeline says, exactly.
void compare_with_timeline(Point& point, const CaseResult& result, const TimedSteps& steps, double throughput) {
  const double alone = point.asked.batch_per_gpu / throughput;
  point.baseline = fmt::format("one GPU without communication, {:.4g} samples/s", throughput);
  note_rate(point, result);
  RatioEstimate estimate{.ratio = alone / point.step_seconds};
  if (steps.launches.size() > 1 && all_positive(steps.launches)) {
    std::vector<double> medians;
    for (const Launch& launch : steps.launches) medians.push_back(median(launch));
    const Interval repeat = repeat_interval(medians);
    estimate.interval = {alone / repeat.high, alone / repeat.low};
    estimate.in_words = fmt::format("95 % interval for a repeat, {} launches", medians.size());
  }
  set_efficiency(point, estimate);
}

void fill_timed(Point& point, const CaseResult& result, const std::vector<CaseResult>& baselines) {
  point.throttled = throttled_share(result, result.asked.is_collective() ? metric::kInPlace : "step_seconds");
  const TimedSteps steps = timed_steps(result);
  point.samples = steps.observations;
  point.launches = steps.launches.size();
  point.iterations = steps.iterations;
  if (steps.launches.empty()) return;
  set_step(point, median_of_launches(steps.launches));
  const auto pairs = paired_launches(result);
  if (all_positive(steps.launches)) point.timed = timed_medians(steps.launches, pairs);
  point.ledger = typical_ledger(result);
  point.warnings = warnings_of(point, result);
  if (const auto emulation = emulation_facts(result)) point.emulation = emulation->in_words();
  if (const auto alone = value_of(result, "baseline_throughput"); alone && *alone > 0)
    return compare_with_timeline(point, result, steps, *alone);
  BaselineChoice base;
  if (!result.asked.is_collective() && (pairs.empty() || !point.ledger.empty()))
    base = choose_baseline(result, baselines);
  if (!pairs.empty()) {
    compare_with_pairs(point, pairs);
  } else {
    point.no_baseline = base.why_none;
    if (base.result != nullptr) compare_with_baseline(point, steps, *base.result);
  }
  if (base.result != nullptr) point.ledger = beside_baseline(point.ledger, *base.result);
  point.warnings = warnings_of(point, result);
}

/// Where several ranks, or launches, have said something of a part, their mean.
void fill_parts(std::map<std::string, double>& parts, std::string_view prefix, const CaseResult& result) {
  std::map<std::string, int> counts;
  for (const Sample& sample : result.samples) {
    if (!sample.metric.starts_with(prefix)) continue;
    const std::string name = sample.metric.substr(prefix.size());
    parts[name] += (sample.value - parts[name]) / ++counts[name];
  }
}

/// Ends that were stored, or, by an older hbench, what is left of the band without the model's error.
StepEnds ends_of(const CaseResult& result, double step) {
  const auto or_step = [&](std::string_view metric) { return value_of(result, metric).value_or(step); };
  const double rate = value_of(result, "baseline_throughput").value_or(0);
  const double share = rate > 0 ? share_exposed(step, result.asked.batch_per_gpu / rate) : 1;
  const double wider = result.asked.gpus > 1 ? std::exp(kModelError.half_width(share)) : 1;
  const double fast = std::min(or_step("step_seconds_low") * wider, step);
  const double slow = std::max(or_step("step_seconds_high") / wider, step);
  return {
      .stated = step,
      .better = value_of(result, "step_seconds_better").value_or(fast),
      .worse = value_of(result, "step_seconds_worse").value_or(slow),
      .exposed = share,
      .servers = result.asked.strategy.uses_servers(),
      .coding = value_of(result, fmt::format("{}{}", kUnknownPrefix, name_of(UnknownKind::compressor))).value_or(0)};
}

/// None of results of an older hbench.
std::optional<UnknownKind> widest_of(const CaseResult& result) {
  std::optional<UnknownKind> widest;
  double most = 0;
  for (const UnknownKind kind : kUnknownKinds)
    if (const auto size = value_of(result, fmt::format("{}{}", kUnknownPrefix, name_of(kind))); size && *size > most) {
      most = *size;
      widest = kind;
    }
  return widest;
}

void fill_simulated(Point& point, const CaseResult& result) {
  const std::optional<double> step = value_of(result, "step_seconds");
  if (!step) return;
  set_step(point, *step);
  point.samples = 1;
  if (*step > 0) point.ends = ends_of(result, *step);
  point.widest = widest_of(result);
  point.ledger = typical_ledger(result);
  if (const auto idle = value_of(result, metric::kPipelineIdle); idle && *step > 0) point.idle_share = *idle / *step;
  const std::optional<double> base = value_of(result, "baseline_throughput");
  if (!base) return;
  const char* alone = has_recorded_rate(point.asked)   ? "what its timeline was recorded on"
                      : has_modelled_rate(point.asked) ? "one GPU (modelled)"
                                                       : "one GPU";
  point.baseline = fmt::format("{} without communication, {:.4g} samples/s", alone, *base);
  note_rate(point, result);
  const auto efficiency_at = [&](double seconds) { return point.asked.batch_per_gpu / (seconds * *base); };
  point.efficiency = efficiency_at(*step);
  const std::optional<double> optimistic = value_of(result, "step_seconds_low");
  const std::optional<double> pessimistic = value_of(result, "step_seconds_high");
  if (!optimistic || !pessimistic) return;
  point.efficiency_low = efficiency_at(*pessimistic);
  point.efficiency_high = efficiency_at(*optimistic);
  point.interval = fmt::format("{:.0f} % band", 100 * kBandLevel);
  if (!point.widest) return;
  std::map<std::string, double> then;
  fill_parts(then, fmt::format("{}{}/", metric::kNarrowed, name_of(*point.widest)), result);
  const Narrowed narrowed{*point.widest, {then["low"], then["stated"], then["high"]}};
  if (std::min({then["low"], then["stated"], then["high"]}) > 0)
    point.narrowed = narrowed.times_in(point.asked.batch_per_gpu / *base);
  point.interval += fmt::format(": most of it is {}", in_words(*point.widest));
}

/// What the source prints is kept as printed, also where it does not add up.
void fill_published(Point& point, const CaseResult& result) {
  const std::optional<double> throughput = value_of(result, "throughput");
  const std::optional<double> base = value_of(result, "baseline_throughput");
  point.efficiency = value_of(result, "efficiency");
  point.samples = throughput.has_value() + point.efficiency.has_value();
  const double ideal = base.value_or(0) * point.asked.gpus;
  set_throughput(point, throughput.value_or(point.efficiency.value_or(0) * ideal));
  if (base)
    point.baseline = fmt::format("one GPU as published, {:.4g} samples/s", *base);
  else if (point.efficiency)
    point.baseline = "as printed in the source, which does not state it";
  if (!point.efficiency && throughput && ideal > 0) point.efficiency = *throughput / ideal;
}

}  // namespace

std::optional<double> Point::whole_memory() const {
  if (!memory.contains("activations")) return std::nullopt;
  double sum = 0;
  for (const auto& [part, bytes] : memory) sum += bytes;
  return sum;
}

std::vector<Point> make_points(const std::vector<CaseResult>& results) { return make_points(results, results); }

double share_exposed(double step, double one_gpu_alone) { return std::clamp(1 - one_gpu_alone / step, 0.0, 1.0); }

std::vector<Point> make_points(const std::vector<CaseResult>& results, const std::vector<CaseResult>& baselines) {
  std::ranges::for_each(results, check_plausible);
  std::ranges::for_each(baselines, check_plausible);
  std::vector<Point> points;
  for (const CaseResult& result : results) {
    if (result.asked.is_benchmark()) continue;
    Point& point = points.emplace_back();
    point.asked = result.asked;
    point.producer = result.producer;
    point.machine_in_words = result.machine_in_words;
    point.failed = result.status == CaseStatus::failed;
    point.failure = result.failure;
    if (point.failed) continue;
    if (result.asked.is_timed())
      fill_timed(point, result, baselines);
    else if (result.asked.is_predicted())
      fill_simulated(point, result);
    else
      fill_published(point, result);
    if (result.asked.is_of_others() || result.asked.is_collective()) continue;
    fill_parts(point.memory, metric::kMemory, result);
    fill_parts(point.staleness, metric::kStaleness, result);
    point.consensus_distance = value_of(result, metric::kConsensusDistance);
    fill_parts(point.sent, metric::kSent, result);
    point.by_library = value_of(result, metric::kByLibrary).value_or(0);
    if (std::string doubt = warn_of_batch(result.asked); !doubt.empty()) point.warnings.push_back(std::move(doubt));
  }
  return points;
}

}  // namespace hbench
