#pragma once

/// Schedules that are asked for again and again, each built once.

#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// Building takes milliseconds in large worlds (ring, 128 ranks: one), and a training step has many buckets.
/// Not thread-safe.
class ScheduleCache {
 public:
  /// With more than `most_transfers` in it, it forgets all schedules before it builds another one.
  explicit ScheduleCache(std::size_t most_transfers = std::numeric_limits<std::size_t>::max())
      : most_(most_transfers) {}

  /// Lives until the cache forgets it; with `shards`, which are another for every bucket, until the next call with
  /// shards. In groups: one for each of them, side by side. \pre as for `AlgorithmChoice::build`.
  const Schedule& of(const AlgorithmChoice& algorithm, const World& world, int segments,
                     std::span<const Shard> shards = {}, const RankGroups& groups = {});

 private:
  using Key = std::tuple<const Algorithm*, std::string, World, int, RankGroups>;
  std::size_t most_;
  std::size_t kept_ = 0;  ///< transfers
  std::map<Key, Schedule> built_;
  Schedule placed_;
};

}  // namespace hbench
