#include "collectives/algorithms/schedule_cache.hpp"

namespace hbench {
namespace {

Schedule build(const AlgorithmChoice& algorithm, const World& world, int segments, const RankGroups& groups) {
  if (groups.all()) return algorithm.build(world, segments);
  const World group{.workers = groups.size_among(world.workers)};
  return to_transfers(in_groups(to_runs(algorithm.build(group, segments)), world.workers, groups));
}

}  // namespace

const Schedule& ScheduleCache::of(const AlgorithmChoice& algorithm, const World& world, int segments,
                                  std::span<const Shard> shards, const RankGroups& groups) {
  if (!shards.empty()) return placed_ = algorithm.build(world, segments, shards);
  const Key key{algorithm.algorithm, algorithm.parameters, world, segments, groups};
  if (const auto known = built_.find(key); known != built_.end()) return known->second;
  if (kept_ > most_) {
    built_.clear();
    kept_ = 0;
  }
  const Schedule& built = built_.emplace(key, build(algorithm, world, segments, groups)).first->second;
  kept_ += built.transfers.size();
  return built;
}

}  // namespace hbench
