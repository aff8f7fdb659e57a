#pragma once

/// The family of all-reduce algorithms.
///
/// One algorithm is one file that defines one constant and is listed in `algorithms.cpp`. What an entry
/// declares (worlds, rounds, bytes) is tested for every entry against what its schedules really do.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "collectives/placement/placement.hpp"
#include "collectives/schedule.hpp"

namespace hbench {

/// Rounds and bytes of an algorithm, for a buffer of `elements` elements that the schedule splits evenly.
struct Cost {
  int rounds = 0;
  std::int64_t sent = 0;      ///< elements sent by the busiest rank
  std::int64_t received = 0;  ///< elements received by the busiest rank

  friend bool operator==(const Cost&, const Cost&) = default;
};

/// One entry of the family.
struct Algorithm {
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
  /// Needs `World::servers` >= 1; the others need 0.
  bool uses_servers = false;
  /// Many buckets may be in flight at once (every tensor is its own request to a server); otherwise
  /// buckets follow each other on one stream, as with Horovod and NCCL.
  bool concurrent = false;
  /// Why `world` is not possible, or empty when it is.
  std::string (*refuses)(const World& world);
  /// The schedule. `shards` cover the buffer in order and name their servers; empty means an even split.
  /// Algorithms without servers ignore them. Null for a vendor's opaque collective: there is no schedule
  /// to prove or to simulate, only a library call.
  Schedule (*build)(const World& world, std::span<const Shard> shards);
  /// Closed form of the cost, for an even split and groups of one worker. Null exactly where `build` is null.
  Cost (*cost)(const World& world, std::int64_t elements);

  bool opaque() const { return build == nullptr; }
};

/// The table, in the order in which `hbench list algorithms` prints it.
std::span<const Algorithm* const> algorithms();

}  // namespace hbench
