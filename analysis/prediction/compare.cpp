#include "analysis/prediction/compare.hpp"

#include <algorithm>

#include "analysis/points/points.hpp"
#include "analysis/prediction/gpu_range.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/prediction/simulate_each.hpp"
#include "collectives/base/flag_values.hpp"

namespace hbench {
namespace {

PredictionRequest request_of(const ReadyComparison& asked, const ComparedPlace& place) {
  PredictionRequest request;
  request.gpus = parse_gpu_range(asked.gpus);
  request.workloads = split_list(asked.workloads, "workloads");
  request.presets = split_list(asked.presets, "presets");
  request.profiles = {std::string(place.nodes)};
  request.evidence = {Evidence::simulated};
  if (place.is_real()) request.evidence.insert(Evidence::published);
  return request;
}

/// The place's plan, with its network in the catalog.
Plan plan_of(const ReadyComparison& asked, const ComparedPlace& place, const Data& data, std::int64_t memory) {
  Plan plan = plan_predictions(request_of(asked, place), data, {.memory = memory});
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

ComparisonAnswer compare(const ReadyComparison& asked, const Data& data, const SimulationMeans& means) {
  ComparisonAnswer answer{.asked = &asked};
  std::vector<Plan> plans;
  for (const ComparedPlace& place : asked.places) {
    const Plan& plan = plans.emplace_back(plan_of(asked, place, data, means.memory));
    means.more(simulation_time(plan.cases, plan.catalog));
  }
  std::vector<CaseResult> results;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const ComparedPlace& place = asked.places[i];
    // A published point keeps its cluster's name, by which it is known what was chosen with it.
    const std::string label(place.label), profile(place.is_real() ? place.nodes : place.label);
    answer.labels[profile] = label;
    Plan& plan = plans[i];
    const auto add = [&](CaseResult result) {
      result.asked.profile = profile;
      results.push_back(std::move(result));
    };
    for (CaseResult& simulated : simulate_all(plan.cases, plan.catalog, means)) add(std::move(simulated));
    for (CaseResult& published : plan.published) add(std::move(published));
    for (const auto& [name, trace] : plan.catalog.traces) answer.titles[name] = trace.title;
    for (const Refusal& refusal : plan.refused) refuse(answer.refused, refusal.what, refusal.why);
  }
  answer.points = make_points(results);
  return answer;
}

}  // namespace hbench
