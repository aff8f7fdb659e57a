#include "collectives/algorithms/schedule_cache.hpp"

namespace hbench {

const Schedule& ScheduleCache::of(const AlgorithmChoice& algorithm, const World& world, int segments,
                                  std::span<const Shard> shards) {
  if (!shards.empty()) return placed_ = algorithm.build(world, segments, shards);
  const auto [known, added] = built_.try_emplace({algorithm.algorithm, algorithm.parameters, world, segments});
  if (added) known->second = algorithm.build(world, segments);
  return known->second;
}

}  // namespace hbench
