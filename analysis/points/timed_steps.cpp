#include "analysis/points/timed_steps.hpp"

#include <algorithm>
#include <map>

#include "analysis/records/machine_facts.hpp"
#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

/// Of the ranks in one iteration.
struct OfRanks {
  double slowest = 0;
  double sum = 0;
  int ranks = 0;
};

/// Of a rank in a launch.
struct OfSteps {
  double seconds = 0;
  int steps = 0;
};

/// Of ranks that do not wait for each other: the step that all would have if they did as many together. A rank that is
/// twice as slow makes half as much, and holds up nobody.
double as_if_equal(const std::map<int, OfSteps>& by_rank) {
  double rate = 0;
  for (const auto& [rank, each] : by_rank) rate += each.steps / each.seconds;
  return static_cast<double>(by_rank.size()) / rate;
}

bool waits_for_nobody(const Case& asked) {
  if (asked.strategy.method.empty()) return false;
  const std::optional<MethodChoice> method = known_method(asked.strategy.method);
  return method && !method->in_lockstep();
}

/// A launch's ranks in each of its iterations, and the steps of each rank.
struct OfLaunch {
  std::map<int, OfRanks> iterations;
  std::map<int, OfSteps> steps;  ///< where they wait for nobody
};

/// The value of each timed iteration. Ranks that wait for nobody have none in common: their launch has one value.
Launch values_of(const OfLaunch& launch, std::string_view metric) {
  if (!launch.steps.empty()) return {as_if_equal(launch.steps)};
  const bool is_step = metric == metric::kStep;
  Launch values;
  for (const auto& [number, iteration] : launch.iterations)
    values.push_back(is_step ? iteration.sum / iteration.ranks : iteration.slowest);
  return values;
}

/// By launch the values of a metric; counts what they are of in `steps`.
std::map<int, Launch> by_launch(const CaseResult& result, std::string_view metric, TimedSteps& steps) {
  const bool free = metric == metric::kStep && waits_for_nobody(result.asked);
  std::map<int, OfLaunch> samples;
  for (const Sample& sample : result.samples) {
    if (sample.metric != metric || sample.warmup) continue;
    ++steps.observations;
    OfLaunch& launch = samples[sample.launch];
    OfRanks& iteration = launch.iterations[sample.iteration];
    iteration.slowest = std::max(iteration.slowest, sample.value);
    iteration.sum += sample.value;
    ++iteration.ranks;
    if (!free) continue;
    OfSteps& of_rank = launch.steps[sample.rank];
    of_rank.seconds += sample.value;
    ++of_rank.steps;
  }
  std::map<int, Launch> launches;
  for (const auto& [number, launch] : samples) {
    steps.iterations += launch.iterations.size();
    launches[number] = values_of(launch, metric);
  }
  return launches;
}

}  // namespace

TimedSteps timed_steps(const CaseResult& result, std::string_view metric) {
  TimedSteps steps;
  for (auto& [launch, values] : by_launch(result, metric, steps)) steps.launches.push_back(std::move(values));
  return steps;
}

std::vector<PairedLaunch> paired_launches(const CaseResult& result) {
  TimedSteps counted;
  std::map<int, Launch> own = by_launch(result, metric::kStep, counted);
  std::vector<PairedLaunch> pairs;
  for (auto& [launch, baseline] : by_launch(result, metric::kPairedBaseline, counted))
    if (const auto found = own.find(launch); found != own.end())
      pairs.push_back({std::move(baseline), std::move(found->second)});
  return pairs;
}

}  // namespace hbench
