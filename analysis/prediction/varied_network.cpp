#include "analysis/prediction/varied_network.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

void leave_out_single_nodes(Plan& plan, const Profile& base) {
  const char* unit = base.nodes_per_domain > 1 ? "NVLink domain" : "node";
  const auto one_node = [&](const Case& asked) { return base.domains_of(asked.gpus) == 1; };
  for (const Case& asked : plan.cases)
    if (one_node(asked))
      refuse(plan.refused, fmt::format("{} GPUs", asked.gpus),
             fmt::format("they are on one {} of {}, and use no network between nodes", unit, base.name));
  std::erase_if(plan.cases, one_node);
  if (plan.cases.empty())
    throw Error(ExitCode::usage,
                fmt::format("nothing to do: without more than one {} of {} ({} GPUs) no network is used", unit,
                            base.name, base.gpus_per_domain()),
                base.most_nodes == 1 ? "take another --profile: nothing joins these nodes"
                                     : fmt::format("ask for more, such as --gpus {}..{}", 2 * base.gpus_per_domain(),
                                                   16 * base.gpus_per_domain()));
}

/// In the order in which workloads were asked for.
void sort_by_workload(std::vector<PlannedCase>& cases) {
  std::map<std::string, std::size_t> places;
  for (const Case& asked : cases) places.try_emplace(asked.workload, places.size());
  std::ranges::stable_sort(cases, {}, [&](const Case& asked) { return places.at(asked.workload); });
}

}  // namespace

std::optional<BytesPerSecond> least_rate(const std::function<bool(BytesPerSecond)>& meets) {
  if (!meets(kUnlimited)) return std::nullopt;
  if (meets(kLeastRate)) return kLeastRate;
  double too_slow = kLeastRate.value, enough = kUnlimited.value;
  while (enough > too_slow * (1 + kSearchTolerance)) {
    const double middle = std::sqrt(too_slow * enough);
    (meets(BytesPerSecond(middle)) ? enough : too_slow) = middle;
  }
  return BytesPerSecond(enough);
}

Plan plan_across_nodes(PredictionRequest request, const Data& data, std::int64_t memory) {
  if (request.profiles.size() != 1)
    throw Error(ExitCode::usage, "the network of one cluster is varied at a time", "give --profile one name");
  // As frameworks place them, and as `hbench choose` does.
  request.placements = {"sliced"};
  request.servers = {{.colocated = true, .count = 0}};
  Plan plan = plan_predictions(request, data, {.memory = memory});
  Profile& base = plan.catalog.profiles.begin()->second;
  leave_out_single_nodes(plan, base);
  if (std::ranges::any_of(plan.cases, has_recorded_rate))
    base.title = "with GPUs as fast as what the timeline was recorded on";
  sort_by_workload(plan.cases);
  return plan;
}

Profile with_network_rate(Profile profile, BytesPerSecond per_node) {
  profile.line_rate = per_node / (profile.nics * profile.protocol_efficiency);
  profile.stream_cap = profile.tree_rate = BytesPerSecond(0);
  profile.stream_factor = 1;
  return profile;
}

const SimulatedStep& VariedNetwork::step(const PlannedCase& planned, BytesPerSecond per_node) {
  const std::pair key(planned.asked.key(), per_node.value);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (!runner_ || per_node != last_rate_) {
    for (const auto& [name, profile] : stated_.profiles)
      varied_.profiles.at(name) = with_network_rate(profile, per_node);
    runner_.emplace(varied_, stop_, true);
    last_rate_ = per_node;
  }
  return known_.emplace(key, runner_->step(planned)).first->second;
}

}  // namespace hbench
