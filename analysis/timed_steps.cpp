#include "analysis/timed_steps.hpp"

#include <algorithm>
#include <map>

#include "analysis/machine_load.hpp"

namespace hbench {
namespace {

/// By launch the slowest rank's value of each timed iteration.
std::map<int, Launch> by_launch(const CaseResult& result, std::string_view metric, std::size_t& observations) {
  std::map<int, std::map<int, double>> slowest;  // launch, iteration
  for (const Sample& sample : result.samples) {
    if (sample.metric != metric || sample.warmup) continue;
    ++observations;
    double& value = slowest[sample.launch][sample.iteration];
    value = std::max(value, sample.value);
  }
  std::map<int, Launch> launches;
  for (const auto& [launch, iterations] : slowest)
    for (const auto& [iteration, value] : iterations) launches[launch].push_back(value);
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
  std::map<int, Launch> own = by_launch(result, "step_seconds", observations);
  std::vector<PairedLaunch> pairs;
  for (auto& [launch, baseline] : by_launch(result, metric::kPairedBaseline, observations))
    if (const auto found = own.find(launch); found != own.end())
      pairs.push_back({std::move(baseline), std::move(found->second)});
  return pairs;
}

}  // namespace hbench
