#include "analysis/prediction/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/one_gpu.hpp"
#include "analysis/trace/ledger.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/network/choose.hpp"
#include "workloads/simulation/simulation_cost.hpp"

namespace hbench {
namespace {

/// Below, a simulation takes milliseconds and megabytes, and is not worth the time to count.
constexpr int kLargeWorld = 256;
constexpr Seconds kSmallCase(0.004);

/// `11,585`
std::string with_commas(int count) {
  std::string text = std::to_string(count);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

std::string in_words(std::int64_t transfers) {
  const auto count = static_cast<double>(transfers);
  return count < 1e9 ? fmt::format("{:.0f} million transfers", count / 1e6)
                     : fmt::format("{:.1f} billion transfers", count / 1e9);
}

}  // namespace

std::string refuse_size(const World& world, const StepTimeline& timeline, const TrainingStrategy& strategy,
                        std::int64_t memory) {
  if (world.workers < kLargeWorld) return {};
  const SimulationNeed need = simulation_need(world, timeline, strategy);
  if (need.bytes <= memory) return {};
  const auto size = [](std::int64_t bytes) { return format(Bytes(static_cast<double>(bytes))); };
  return fmt::format("needs up to {} of memory for {}; up to {} GPUs fit in the {} that are available",
                     size(need.bytes), in_words(need.transfers),
                     with_commas(workers_that_fit(world, timeline, strategy, memory)), size(memory));
}

std::string refuse_simulation(const Case& asked, const Catalog& catalog, std::int64_t memory) {
  const TrainingStrategy strategy = parse_strategy(asked);
  if (strategy.algorithm.is_vendor()) return "a library's own collective has no schedule to simulate";
  const World world = strategy.world(asked.gpus, catalog.profiles.at(asked.profile).gpus_per_node);
  std::string why = refuse_strategy(strategy, world);
  return why.empty() ? refuse_size(world, catalog.traces.at(asked.workload).timeline, strategy, memory) : why;
}

std::string refuse_choice(const Profile& profile, int workers, std::int64_t memory) {
  if (workers < kLargeWorld) return {};
  const std::int64_t transfers = transfers_to_choose(profile, workers, usual_sizes());
  const auto bytes = static_cast<double>(transfers) * sizeof(Transfer) * 2;
  if (bytes <= static_cast<double>(memory)) return {};
  return fmt::format("needs up to {} of memory for {}, and {} are available", format(Bytes(bytes)), in_words(transfers),
                     format(Bytes(static_cast<double>(memory))));
}

Seconds simulation_time(const Case& asked, const Catalog& catalog) {
  if (asked.gpus < kLargeWorld) return kSmallCase;
  const Profile& cluster = catalog.profiles.at(asked.profile);
  const StepTimeline timeline = timeline_of(asked, catalog);
  const TrainingStrategy strategy = parse_strategy(asked);
  return simulation_time(cluster, strategy.world(asked.gpus, cluster.gpus_per_node), timeline, strategy);
}

const Profile& SimulatedRunner::profile(const std::string& name, End end) {
  const Profile& stated = catalog_.profiles.at(name);
  if (end == End::stated) return stated;
  const auto known = varied_.find({name, end});
  return known != varied_.end() ? known->second : varied_.emplace(std::pair(name, end), stated.at(end)).first->second;
}

StepSimulator& SimulatedRunner::simulator(const std::string& profile_name, const World& world, End end) {
  if (profile_name != last_profile_ || world.workers != last_workers_) simulators_.clear();
  last_profile_ = profile_name;
  last_workers_ = world.workers;
  const std::tuple key{world.servers, world.colocated, world.group, end};
  // There may be memory for the schedules of one large world only.
  if (world.workers >= kLargeWorld && !simulators_.contains(key)) simulators_.clear();
  return simulators_.try_emplace(key, profile(profile_name, end), world, stop_).first->second;
}

SimulatedStep SimulatedRunner::step(const Case& asked) {
  const Profile& cluster = catalog_.profiles.at(asked.profile);
  const Trace& recorded = catalog_.traces.at(asked.workload);
  const OneGpu rate = one_gpu(asked, catalog_);
  SimulatedStep result{.rate = rate.samples_per_second, .rate_factor = rate.factor};
  if (asked.accumulate > 1) result.rate = timeline_of(asked, catalog_).samples_per_second();
  const TrainingStrategy strategy = parse_strategy(asked);
  const World world = strategy.world(asked.gpus, cluster.gpus_per_node);
  const bool has_factor =
      cluster.stream_factor > 1 || !cluster.assumed().empty() || (world.servers > 0 && cluster.server_factor > 1);
  const auto simulated = [&](End end, double network_slower, double gpu_faster, std::vector<Span>* spans = nullptr) {
    const StepTimeline timeline = timeline_of(asked, catalog_, gpu_faster);
    return simulator(asked.profile, world, has_factor ? end : End::stated)
        .run(timeline, strategy, network_slower, end, spans);
  };
  const StepTimes& times = result.times = simulated(End::stated, 1, 1, &result.spans);
  // On a faster network messages meet other queues, and nothing promises that no step takes longer for it: what the
  // profile is uncertain of is the envelope of the three runs. A slower GPU hides more, and a faster one less; against
  // their own speed alone they are compared as if they were as fast as stated.
  result.fast = simulated(End::better, 1 - cluster.uncertainty, 1 / rate.factor).step / rate.factor;
  result.slow = simulated(End::worse, 1 + cluster.uncertainty, rate.factor).step * rate.factor;
  // One GPU is what others are relative to. A recorded job shows how far its timeline is from its own step.
  const double own = recorded.recorded ? recorded.recorded->error() : 0;
  const double wider =
      asked.gpus > 1 ? std::exp(std::hypot(error_.half_width(times.communication / times.step), own)) : 1;
  // Whatever else may be wrong, communication does not make a GPU faster.
  result.low = std::max(std::min({times.step, result.fast, result.slow}) / wider, times.alone());
  result.high = std::max({times.step, result.fast, result.slow}) * wider;
  return result;
}

CaseResult SimulatedRunner::run(const Case& asked) {
  const SimulatedStep simulated = step(asked);
  const StepTimes& times = simulated.times;
  CaseResult result;
  result.asked = asked;
  const auto add = [&](const char* metric, double value, const char* unit = "s") {
    result.samples.push_back({.metric = metric, .value = value, .unit = unit});
  };
  add("step_seconds", times.step.value);
  add("step_seconds_low", simulated.low.value);
  add("step_seconds_high", simulated.high.value);
  add("step_seconds_better", simulated.fast.value);
  add("step_seconds_worse", simulated.slow.value);
  add("communication_seconds", times.communication.value);
  add_other_batch(result, one_gpu(asked, catalog_));
  add("baseline_throughput", simulated.rate, "samples/s");
  add("ledger/compute", times.compute.value);
  add("ledger/straggler", times.straggler.value);
  add("ledger/slowdown", times.slowdown.value);
  const Ledger waiting = step_ledgers(simulated.spans).front().ledger;
  add("ledger/exposed", std::max(0.0, (times.exposed - waiting.negotiation - waiting.coding).value));
  add("ledger/negotiation", waiting.negotiation.value);
  add("ledger/coding", waiting.coding.value);
  if (times.update.value > 0) add("ledger/optimizer", times.update.value);
  return result;
}

Seconds simulation_time(const std::vector<Case>& cases, const Catalog& catalog) {
  Seconds all(0);
  for (const Case& asked : cases) all = all + simulation_time(asked, catalog);
  return all;
}

std::string simulation_in_words(const Case& asked) {
  return fmt::format("{}, {} GPUs of {}, {}", asked.workload, asked.gpus, asked.profile, asked.strategy.label());
}

std::vector<CaseResult> simulate_all(const std::vector<Case>& cases, const Catalog& catalog,
                                     const SimulationMeans& means) {
  SimulatedRunner runner(catalog, means.stop);
  std::vector<CaseResult> results;
  for (const Case& asked : cases) {
    means.begun(simulation_in_words(asked));
    results.push_back(runner.run(asked));
    means.done(simulation_time(asked, catalog));
  }
  return results;
}

}  // namespace hbench
