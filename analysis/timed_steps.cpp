#include "analysis/timed_steps.hpp"

#include <algorithm>
#include <map>

namespace hbench {

std::size_t TimedSteps::iterations() const {
  std::size_t count = 0;
  for (const Launch& launch : launches) count += launch.size();
  return count;
}

TimedSteps timed_steps(const CaseResult& result, std::string_view metric) {
  std::map<int, std::map<int, double>> slowest;  // launch, iteration
  TimedSteps steps;
  for (const Sample& sample : result.samples) {
    if (sample.metric != metric || sample.warmup) continue;
    ++steps.observations;
    double& value = slowest[sample.launch][sample.iteration];
    value = std::max(value, sample.value);
  }
  for (const auto& [launch, iterations] : slowest) {
    Launch& values = steps.launches.emplace_back();
    for (const auto& [iteration, value] : iterations) values.push_back(value);
  }
  return steps;
}

}  // namespace hbench
