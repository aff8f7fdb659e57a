#pragma once

/// Schedules of every algorithm in every mode that it has, for family tests.

#include <fmt/format.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/placement/placement.hpp"

namespace hbench::support {

struct Instance {
  std::string name;  ///< for failure messages
  const Algorithm* algorithm = nullptr;
  World world;
  int segments = 1;
  std::string parameters;
  std::vector<Shard> shards;
  Schedule schedule;
  std::int64_t elements = 0;  ///< the buffer that `shards` cover; a free choice without them

  std::int64_t total(std::int64_t any) const { return shards.empty() ? any : elements; }
  ScheduleRequest request() const {
    return {.world = world, .segments = segments, .parameters = parameters, .shards = shards};
  }
};

/// Tensors in backward order: large ones, equal ones, one element, a prime, one beyond two slices.
inline const std::vector<std::int64_t> kTensors{1'000'000, 10, 10, 2'500'001, 1, 7919, 3'000'000, 64};

inline std::vector<Shard> place_in_one_buffer(const Placement& placement, int servers) {
  std::vector<Shard> all;
  for (const auto& shards : placement.place(kTensors, servers)) all.insert(all.end(), shards.begin(), shards.end());
  return all;
}

/// Fills in the name and the schedule.
inline Instance completed(Instance instance, std::string_view mode = "") {
  const World& world = instance.world;
  instance.name =
      fmt::format("{} {}{}{} with {} workers", to_string(instance.algorithm->collective), instance.algorithm->name,
                  instance.parameters.empty() ? "" : ":", instance.parameters, world.workers);
  if (instance.algorithm->uses_servers)
    instance.name += fmt::format(", {} servers{}", world.servers, world.colocated ? " colocated" : "");
  if (world.group > 1) instance.name += fmt::format(", groups of {}", world.group);
  if (instance.segments > 1) instance.name += fmt::format(", {} segments", instance.segments);
  instance.name += mode;
  instance.schedule = instance.algorithm->build(instance.request());
  if (!instance.shards.empty()) instance.elements = std::accumulate(kTensors.begin(), kTensors.end(), std::int64_t{0});
  return instance;
}

/// Parameters worth a test of their own; one empty text for an algorithm without.
inline std::vector<std::string> parameters_of(const Algorithm& algorithm) {
  if (algorithm.name == "hierarchical")
    return {"direct:ring",
            "ring:halving-doubling",
            "halving-doubling:recursive-doubling",
            "ring-segmented:double-binary-tree",
            "direct:ring-segmented",
            "ring:torus"};
  return {std::string(algorithm.defaults)};
}

/// Sizes of groups, or nodes, that `workers` workers can be in.
inline std::set<int> groups_of(const Algorithm& algorithm, int workers) {
  std::set<int> groups{1};
  if (!algorithm.uses_groups) return groups;
  for (const int group : {2, 3, 4, 8, workers})
    if (algorithm.refuses({.workers = workers, .group = group}).empty()) groups.insert(group);
  return groups;
}

/// With every placement, and split evenly.
inline void add_server_instances(const Algorithm& algorithm, const World& world, std::vector<Instance>& all) {
  all.push_back(completed({.algorithm = &algorithm, .world = world}, ", even"));
  for (const Placement* placement : placements())
    all.push_back(
        completed({.algorithm = &algorithm, .world = world, .shards = place_in_one_buffer(*placement, world.servers)},
                  fmt::format(", {}", placement->name)));
}

/// Every mode of `algorithm` with this many workers; none for a vendor collective.
inline std::vector<Instance> instances(const Algorithm& algorithm, int workers) {
  std::vector<Instance> all;
  if (algorithm.is_vendor()) return all;
  if (algorithm.uses_servers) {
    for (int servers = 1; servers <= 4; ++servers)
      for (const bool colocated : {false, true})
        add_server_instances(algorithm, {.workers = workers, .servers = servers, .colocated = colocated}, all);
    return all;
  }
  for (const int group : groups_of(algorithm, workers))
    for (const std::string& parameters : parameters_of(algorithm))
      for (const int segments : algorithm.segments == nullptr ? std::vector{1} : std::vector{1, 2, 5})
        all.push_back(completed({.algorithm = &algorithm,
                                 .world = {.workers = workers, .group = group},
                                 .segments = segments,
                                 .parameters = parameters}));
  return all;
}

/// Algorithms with servers where the workers of a node add up first; their cost has no closed form.
inline std::vector<Instance> grouped_instances(const Algorithm& algorithm, int workers) {
  std::vector<Instance> all;
  if (!algorithm.uses_servers) return all;
  for (const int group : {2, 3, 4, workers})
    for (const int servers : {1, 2, 3})
      for (const bool colocated : {false, true})
        add_server_instances(algorithm,
                             {.workers = workers, .servers = servers, .colocated = colocated, .group = group}, all);
  return all;
}

}  // namespace hbench::support
