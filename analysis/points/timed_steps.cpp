#include "analysis/points/timed_steps.hpp"

#include <algorithm>
#include <map>

#include "analysis/records/machine_load.hpp"

namespace hbench {
namespace {

/// Of the ranks in one iteration.
struct OfRanks {
  double slowest = 0;
  double sum = 0;
  int ranks = 0;
};

/// By launch the value of each timed iteration.
std::map<int, Launch> by_launch(const CaseResult& result, std::string_view metric, std::size_t& observations) {
  std::map<int, std::map<int, OfRanks>> of_ranks;  // launch, iteration
  for (const Sample& sample : result.samples) {
    if (sample.metric != metric || sample.warmup) continue;
    ++observations;
    OfRanks& iteration = of_ranks[sample.launch][sample.iteration];
    iteration.slowest = std::max(iteration.slowest, sample.value);
    iteration.sum += sample.value;
    ++iteration.ranks;
  }
  std::map<int, Launch> launches;
  for (const auto& [launch, iterations] : of_ranks)
    for (const auto& [number, iteration] : iterations)
      launches[launch].push_back(metric == metric::kStep ? iteration.sum / iteration.ranks : iteration.slowest);
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
