#include "collectives/algorithms/schedule_cache.hpp"

namespace hbench {

const Schedule& ScheduleCache::of(const AlgorithmChoice& algorithm, const World& world, int segments,
                                  std::span<const Shard> shards) {
  if (!shards.empty()) return placed_ = algorithm.build(world, segments, shards);
  const Key key{algorithm.algorithm, algorithm.parameters, world, segments};
  if (const auto known = built_.find(key); known != built_.end()) return known->second;
  if (kept_ > most_) {
    built_.clear();
    kept_ = 0;
  }
  const Schedule& built = built_.emplace(key, algorithm.build(world, segments)).first->second;
  kept_ += built.transfers.size();
  return built;
}

}  // namespace hbench
