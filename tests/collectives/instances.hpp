#pragma once

/// Schedules of every algorithm in every mode that it has, for family tests.

#include <fmt/format.h>

#include <numeric>
#include <string>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/placement/placement.hpp"

namespace hbench::testing {

struct Instance {
  std::string name;  ///< for failure messages
  const Algorithm* algorithm = nullptr;
  World world;
  std::vector<Shard> shards;
  Schedule schedule;
  std::int64_t elements = 0;  ///< the buffer that `shards` cover; a free choice without them

  std::int64_t total(std::int64_t any) const { return shards.empty() ? any : elements; }
};

/// Tensors in backward order: large ones, equal ones, one element, a prime, one beyond two slices.
inline const std::vector<std::int64_t> kTensors{1'000'000, 10, 10, 2'500'001, 1, 7919, 3'000'000, 64};

inline std::vector<Shard> place_in_one_buffer(const Placement& placement, int servers) {
  std::vector<Shard> all;
  for (const auto& shards : placement.place(kTensors, servers)) all.insert(all.end(), shards.begin(), shards.end());
  return all;
}

inline Instance make_instance(const Algorithm& algorithm, const World& world, std::vector<Shard> shards,
                              std::string_view mode) {
  Instance instance;
  instance.name = fmt::format("{} with {} workers, {} servers{}{}", algorithm.name, world.workers, world.servers,
                              world.colocated ? " colocated" : "", mode);
  instance.algorithm = &algorithm;
  instance.world = world;
  instance.schedule = algorithm.build({.world = world, .shards = shards});
  if (!shards.empty()) instance.elements = std::accumulate(kTensors.begin(), kTensors.end(), std::int64_t{0});
  instance.shards = std::move(shards);
  return instance;
}

/// Every mode of `algorithm` with this many workers; none for an opaque one.
inline std::vector<Instance> instances(const Algorithm& algorithm, int workers) {
  std::vector<Instance> all;
  if (algorithm.opaque()) return all;
  if (!algorithm.uses_servers) {
    all.push_back(make_instance(algorithm, {.workers = workers}, {}, ""));
    return all;
  }
  for (int servers = 1; servers <= 4; ++servers)
    for (const bool colocated : {false, true}) {
      const World world{.workers = workers, .servers = servers, .colocated = colocated};
      all.push_back(make_instance(algorithm, world, {}, ", even"));
      for (const Placement* placement : placements())
        all.push_back(make_instance(algorithm, world, place_in_one_buffer(*placement, servers),
                                    fmt::format(", {}", placement->name)));
    }
  return all;
}

/// Algorithms with servers where the workers of a node add up first; their cost has no closed form.
inline std::vector<Instance> grouped_instances(const Algorithm& algorithm, int workers) {
  std::vector<Instance> all;
  if (!algorithm.uses_servers) return all;
  for (const int group : {2, 3, 4, workers})
    for (const int servers : {1, 2, 3})
      for (const bool colocated : {false, true}) {
        const World world{.workers = workers, .servers = servers, .colocated = colocated, .group = group};
        all.push_back(make_instance(algorithm, world, {}, fmt::format(", even, groups of {}", group)));
        for (const Placement* placement : placements())
          all.push_back(make_instance(algorithm, world, place_in_one_buffer(*placement, servers),
                                      fmt::format(", {}, groups of {}", placement->name, group)));
      }
  return all;
}

}  // namespace hbench::testing
