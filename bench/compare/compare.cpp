#include "bench/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/command/arguments.hpp"
#include "bench/command/verbosity.hpp"
#include "bench/output/console.hpp"
#include "bench/sweep/gpu_range.hpp"
#include "bench/sweep/local_machine.hpp"
#include "bench/sweep/simulate.hpp"

namespace hbench {
namespace {

SweepRequest request_of(const ReadyComparison& asked, const ComparedPlace& place) {
  SweepRequest request;
  request.gpus = parse_gpu_range(asked.gpus);
  request.workloads = split_list(asked.workloads, "workloads");
  request.presets = split_list(asked.presets, "presets");
  request.profiles = {std::string(place.nodes)};
  request.evidence = {Evidence::simulated};
  if (place.is_real()) request.evidence.insert(Evidence::published);
  return request;
}

/// The place's plan, with its network in the catalog.
Plan plan_of(const ReadyComparison& asked, const ComparedPlace& place, const Data& data) {
  Plan plan = make_plan(request_of(asked, place), data, machine_that_simulates());
  Profile& profile = plan.catalog.profiles.find(place.nodes)->second;
  if (!place.network.empty()) profile = with_network_of(profile, data.profiles.load(place.network));
  if (place.gbit_per_second > 0) profile.line_rate = BytesPerSecond(place.gbit_per_second * 1e9 / 8) / profile.nics;
  return plan;
}

}  // namespace

Profile with_network_of(Profile nodes, const Profile& network) {
  nodes.network_latency = network.network_latency;
  nodes.network_low_latency = network.network_low_latency;
  nodes.line_rate = network.line_rate;
  nodes.nics = network.nics;
  nodes.stream_cap = network.stream_cap;
  nodes.stream_factor = network.stream_factor;
  nodes.streams = network.streams;
  nodes.protocol_efficiency = network.protocol_efficiency;
  nodes.server_rate = network.server_rate;
  nodes.server_factor = network.server_factor;
  nodes.uncertainty = std::max(nodes.uncertainty, network.uncertainty);
  return nodes;
}

ComparisonAnswer compare(const ReadyComparison& asked, const Data& data, const StopRequested& stop,
                         Verbosity verbosity) {
  ComparisonAnswer answer{.asked = &asked};
  std::vector<Plan> plans;
  double seconds = 0;
  for (const ComparedPlace& place : asked.places) {
    const Plan& plan = plans.emplace_back(plan_of(asked, place, data));
    for (const Case& each : plan.cases) seconds += simulation_time(each, plan.catalog).value;
  }
  Progress progress(seconds, verbosity);
  std::vector<CaseResult> results;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const ComparedPlace& place = asked.places[i];
    // What was published keeps its cluster's name, by which it is known whether the model was calibrated with it.
    const std::string label(place.label), profile(place.is_real() ? place.nodes : place.label);
    answer.labels[profile] = label;
    Plan& plan = plans[i];
    SimulatedRunner runner(plan.catalog, stop);
    const auto add = [&](CaseResult result) {
      result.asked.profile = profile;
      results.push_back(std::move(result));
    };
    for (const Case& each : plan.cases) {
      progress.doing(fmt::format("{} on {} GPUs, {}", each.workload, each.gpus, label));
      add(runner.run(each));
      progress.done(simulation_time(each, plan.catalog).value);
    }
    for (CaseResult& published : plan.published) add(std::move(published));
    for (const auto& [name, trace] : plan.catalog.traces) answer.titles[name] = trace.title;
    for (const Refusal& refusal : plan.refused) refuse(answer.refused, refusal.what, refusal.why);
  }
  answer.points = make_points(results);
  return answer;
}

}  // namespace hbench
