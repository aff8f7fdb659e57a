#include "bench/simulate.hpp"

#include "bench/strategy.hpp"

namespace hbench {

StepSimulator& SimulatedRunner::simulator(const std::string& profile_name, const World& world) {
  if (profile_name != last_profile_ || world.workers != last_workers_) simulators_.clear();
  last_profile_ = profile_name;
  last_workers_ = world.workers;
  return simulators_
      .try_emplace({world.servers, world.colocated, world.group}, catalog_.profiles.at(profile_name), world)
      .first->second;
}

CaseResult SimulatedRunner::run(const Case& asked) {
  const Profile& cluster = catalog_.profiles.at(asked.profile);
  const Trace& recorded = catalog_.traces.at(asked.workload);
  const auto known = cluster.rates.find(recorded.name);
  const double rate = asked.single_gpu_rate > 0      ? asked.single_gpu_rate
                      : known != cluster.rates.end() ? known->second.samples_per_second
                                                     : recorded.timeline.samples_per_second();
  const StepTimeline timeline = recorded.timeline.rescaled(rate, asked.batch_per_gpu);
  const StepStrategy strategy = resolve(asked.strategy);
  StepSimulator& steps = simulator(asked.profile, world_of(asked, cluster.gpus_per_node));

  CaseResult result;
  result.asked = asked;
  const auto add = [&](const char* metric, double value, const char* unit = "s") {
    result.samples.push_back({.metric = metric, .value = value, .unit = unit});
  };
  const StepTimes times = steps.run(timeline, strategy);
  add("step_seconds", times.step.value);
  add("step_seconds_low", steps.run(timeline, strategy, 1 - cluster.uncertainty).step.value);
  add("step_seconds_high", steps.run(timeline, strategy, 1 + cluster.uncertainty).step.value);
  add("baseline_throughput", rate, "samples/s");
  add("ledger/compute", times.compute.value);
  add("ledger/straggler", times.straggler.value);
  add("ledger/slowdown", times.slowdown.value);
  add("ledger/exposed", times.exposed.value);
  return result;
}

}  // namespace hbench
