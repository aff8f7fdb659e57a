#include "analysis/points/point.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "analysis/points/timed_steps.hpp"
#include "analysis/records/emulation.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// An efficiency above it is worth a word, however wide its interval.
constexpr double kFarAboveIdeal = 1.05;
/// Changes from the first launch to the last that are smaller are not worth a word.
constexpr double kLeastDrift = 0.1;
/// A launch, or a step, is slow that takes more than this multiple of the time of the median one.
constexpr double kSlowLaunch = 1.5;
constexpr double kSlowStep = 2;
/// A share of slow steps up to this is usual.
constexpr double kUsuallySlow = 0.05;

using Warnings = std::vector<std::string>;

void above_ideal(const Point& point, Warnings& warnings) {
  const bool surely = point.efficiency_low && *point.efficiency_low > 1;
  if (!surely && !(point.efficiency && *point.efficiency > kFarAboveIdeal)) return;
  warnings.push_back(
      fmt::format("an efficiency of {:.0f} % is above the ideal{}: the baseline was slower than it can be",
                  100 * *point.efficiency, surely ? " by more than its interval" : ""));
}

void modelled_rate(const Point& point, Warnings& warnings) {
  if (point.asked.is_predicted() && has_modelled_rate(point.asked))
    warnings.push_back(
        fmt::format("nobody measured the samples/s of one GPU of {} at {}: modelled; --rate gives your own",
                    point.asked.profile, point.asked.workload));
}

/// What each launch says by itself: the efficiency where the baseline took turns with it, or else the step.
std::vector<double> by_launch(const CaseResult& result, const TimedSteps& steps) {
  std::vector<double> values;
  for (const PairedLaunch& pair : paired_launches(result)) values.push_back(median(pair.baseline) / median(pair.own));
  if (values.empty())
    for (const Launch& launch : steps.launches) values.push_back(1 / median(launch));
  return values;
}

void drift(const Point& point, const CaseResult& result, const TimedSteps& steps, Warnings& warnings) {
  const std::vector<double> values = by_launch(result, steps);
  if (values.size() < 3) return;
  double worth_a_word = std::log1p(kLeastDrift);
  if (point.efficiency && point.efficiency_high)
    worth_a_word = std::max(worth_a_word, std::log(*point.efficiency_high / *point.efficiency));
  const double change = std::log(values.back() / values.front());
  if (std::abs(change) > worth_a_word)
    warnings.push_back(fmt::format("the machine changed meanwhile: the last launch was {:.0f} % {} than the first",
                                   100 * std::expm1(std::abs(change)), change > 0 ? "faster" : "slower"));
}

void busy_machine(const CaseResult& result, Warnings& warnings) {
  const std::vector<MachineLoad> loads = machine_loads(result);
  std::vector<double> taken;
  double cores = 0;
  for (const MachineLoad& load : loads) {
    if (load.disturbed()) taken.push_back(load.others + load.stolen);
    cores = std::max(cores, load.cores);
  }
  if (taken.empty()) return;
  warnings.push_back(fmt::format("the machine was busy: others used {:.1f} of {:.0f} cores during {} of {} launches",
                                 median(taken), cores, taken.size(), loads.size()));
}

void throttled_gpu(const Point& point, Warnings& warnings) {
  if (point.throttled.throttled > 0)
    warnings.push_back(fmt::format("{} of {} iterations ran on a throttled GPU: {}", point.throttled.throttled,
                                   point.throttled.iterations, throttling_text(point.throttled.reasons)));
}

void slow_launches(const TimedSteps& steps, Warnings& warnings) {
  if (steps.launches.size() < 3) return;
  const double usual = median_of_launches(steps.launches);
  std::size_t slow = 0;
  double slowest = 0;
  for (const Launch& launch : steps.launches) {
    slow += median(launch) > kSlowLaunch * usual;
    slowest = std::max(slowest, median(launch) / usual);
  }
  if (slow > 0)
    warnings.push_back(fmt::format("{} of {} launches took up to {:.1f} times as long as the median launch", slow,
                                   steps.launches.size(), slowest));
}

void slow_steps(const TimedSteps& steps, Warnings& warnings) {
  std::size_t slow = 0;
  for (const Launch& launch : steps.launches) {
    const double limit = kSlowStep * median(launch);
    slow += static_cast<std::size_t>(std::ranges::count_if(launch, [&](double value) { return value > limit; }));
  }
  if (slow > 1 && static_cast<double>(slow) > kUsuallySlow * static_cast<double>(steps.iterations))
    warnings.push_back(fmt::format("{} of {} iterations took more than {:.0f} times as long as their launch's median",
                                   slow, steps.iterations, kSlowStep));
}

void slowed_by_a_test(const CaseResult& result, Warnings& warnings) {
  const auto found = std::ranges::find(result.samples, metric::kTestDelay, &Sample::metric);
  if (found != result.samples.end())
    warnings.push_back(fmt::format("not a real figure: a test made rank {} slower by {} (HBENCH_TEST_DELAY)",
                                   found->rank, format(Seconds(found->value))));
}

void planted_faults(const CaseResult& result, Warnings& warnings) {
  const std::optional<EmulationFacts> facts = emulation_facts(result);
  if (facts && !facts->faults.empty())
    warnings.push_back(
        fmt::format("not a real figure: {} was planted (HBENCH_EMULATED_FAULT)", fmt::join(facts->faults, ", ")));
}

void lost_launches(const CaseResult& result, Warnings& warnings) {
  const auto lost = std::ranges::count(result.samples, metric::kLaunchLost, &Sample::metric);
  if (lost > 0)
    warnings.push_back(
        fmt::format("{} launch{} failed and {} left out", lost, lost == 1 ? "" : "es", lost == 1 ? "is" : "are"));
}

}  // namespace

std::vector<std::string> warnings_of(const Point& point, const CaseResult& result) {
  Warnings warnings;
  slowed_by_a_test(result, warnings);
  planted_faults(result, warnings);
  const TimedSteps steps = timed_steps(result);
  modelled_rate(point, warnings);
  above_ideal(point, warnings);
  drift(point, result, steps, warnings);
  busy_machine(result, warnings);
  throttled_gpu(point, warnings);
  slow_launches(steps, warnings);
  slow_steps(steps, warnings);
  lost_launches(result, warnings);
  return warnings;
}

}  // namespace hbench
