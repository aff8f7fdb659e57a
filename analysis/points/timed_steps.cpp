#include "analysis/points/timed_steps.hpp"

#include <algorithm>
#include <map>

#include "analysis/records/machine_load.hpp"
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

/// Of ranks that do not wait for each other, by the mean of their steps: the step that all would have if they did as
/// many together, for the mean of the steps that each has. A rank that is twice as slow makes half as much, and holds
/// up nobody.
double as_one_rate(const std::map<int, OfSteps>& by_rank) {
  double sum = 0, rate = 0;
  for (const auto& [rank, each] : by_rank) {
    sum += each.seconds / each.steps;
    rate += each.steps / each.seconds;
  }
  const auto ranks = static_cast<double>(by_rank.size());
  return (ranks / rate) / (sum / ranks);
}

bool waits_for_nobody(const Case& asked) {
  if (asked.strategy.method.empty()) return false;
  const std::optional<MethodChoice> method = known_method(asked.strategy.method);
  return method && !method->in_lockstep();
}

/// By launch the value of each timed iteration.
std::map<int, Launch> by_launch(const CaseResult& result, std::string_view metric, std::size_t& observations) {
  std::map<int, std::map<int, OfRanks>> of_ranks;  // launch, iteration
  std::map<int, std::map<int, OfSteps>> of_steps;  // launch, rank; where these wait for nobody
  const bool free = metric == metric::kStep && waits_for_nobody(result.asked);
  for (const Sample& sample : result.samples) {
    if (sample.metric != metric || sample.warmup) continue;
    ++observations;
    OfRanks& iteration = of_ranks[sample.launch][sample.iteration];
    iteration.slowest = std::max(iteration.slowest, sample.value);
    iteration.sum += sample.value;
    ++iteration.ranks;
    if (!free) continue;
    OfSteps& steps = of_steps[sample.launch][sample.rank];
    steps.seconds += sample.value;
    ++steps.steps;
  }
  std::map<int, Launch> launches;
  for (const auto& [launch, iterations] : of_ranks) {
    const double factor = free ? as_one_rate(of_steps[launch]) : 1;
    for (const auto& [number, iteration] : iterations)
      launches[launch].push_back(metric == metric::kStep ? factor * iteration.sum / iteration.ranks
                                                         : iteration.slowest);
  }
  return launches;
}

}  // namespace

std::size_t TimedSteps::iterations() const {
  std::size_t count = 0;
  for (const Launch& launch : launches) count += launch.size();
  return count;
}

TimedSteps timed_steps(const CaseResult& result, std::string_view metric) {
  TimedSteps steps;
  for (auto& [launch, values] : by_launch(result, metric, steps.observations))
    steps.launches.push_back(std::move(values));
  return steps;
}

std::vector<PairedLaunch> paired_launches(const CaseResult& result) {
  std::size_t observations = 0;
  std::map<int, Launch> own = by_launch(result, metric::kStep, observations);
  std::vector<PairedLaunch> pairs;
  for (auto& [launch, baseline] : by_launch(result, metric::kPairedBaseline, observations))
    if (const auto found = own.find(launch); found != own.end())
      pairs.push_back({std::move(baseline), std::move(found->second)});
  return pairs;
}

}  // namespace hbench
