#pragma once

/// A collective is a value.
///
/// A `Schedule` says which chunks travel from whom to whom in which round. An algorithm builds one;
/// the checker proves it, the cost model counts it, executors move real bytes by it, the simulator
/// computes its time, a report draws it. None of them knows which algorithm made it.
///
/// Semantics
///   1. The buffer of every rank is cut into `chunks` parts, the same on all ranks (see `range`).
///   2. Within a round every transfer reads the state *before* the round.
///   3. Between rounds only data dependencies order things; there is no barrier.
///   4. `reduce` combines the payload with the destination chunk (adds it, for a sum), `copy` replaces it.
///   5. What ranks hold before and after is the schedule's `CollectiveKind`; a rank that only serves begins with the
///      operation's neutral element (zeros for a sum).

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench {

/// What a schedule is for. `Part` r of a buffer is the r-th of `workers` runs of equally many chunks, so a schedule
/// whose collective speaks of parts has a multiple of `workers` chunks. Every buffer has the full length.
enum class CollectiveKind : std::uint8_t {
  all_reduce,      ///< every worker brings a contribution to every chunk, and ends with the reduction of all of it
  reduce_scatter,  ///< the same contributions; worker r ends with the reduction of part r, the rest is undefined
  all_gather,      ///< worker r brings part r; every worker ends with all parts
  broadcast,       ///< worker 0 brings everything; every worker ends with it
};

/// Whether contributions are added up; where not, data only travel.
constexpr bool reduces(CollectiveKind collective) {
  return collective == CollectiveKind::all_reduce || collective == CollectiveKind::reduce_scatter;
}

enum class TransferKind : std::uint8_t { reduce, copy };

/// One message: `chunk_count` consecutive chunks, cyclic ranges are not allowed.
struct Transfer {
  std::int32_t round = 0;
  Rank src = 0;
  Rank dst = 0;
  std::int32_t first_chunk = 0;
  std::int32_t chunk_count = 1;
  TransferKind kind = TransferKind::copy;

  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// Who takes part. Ranks 0 .. workers-1 contribute gradients and want the sum.
/// Dedicated servers are the ranks after them and contribute nothing; co-located server `j` is a second
/// role of worker `j * workers / servers`, so that servers spread evenly over the workers' nodes.
struct World {
  int workers = 1;
  int servers = 0;         ///< parameter servers; 0 where the algorithm has none
  bool colocated = false;  ///< servers share ranks with workers
  /// The number of consecutive workers (those of a node) that add up among themselves before one of them talks to a
  /// server.
  int group = 1;

  int ranks() const { return colocated ? workers : workers + servers; }
  /// The rank that plays server `server` (0 <= server < servers).
  Rank server_rank(int server) const {
    return colocated ? static_cast<Rank>(static_cast<std::int64_t>(server) * workers / servers) : workers + server;
  }

  friend auto operator<=>(const World&, const World&) = default;
};

/// Half-open range of elements.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

/// See the top of the file. A plain value; copy it, mutate it in tests, compare it.
struct Schedule {
  World world;
  CollectiveKind collective = CollectiveKind::all_reduce;
  int chunks = 1;
  int rounds = 0;
  /// Sorted by round; within a round in the order in which a rank should post them.
  std::vector<Transfer> transfers;
  /// Where the chunks begin, in elements: `chunks + 1` ascending numbers from 0. Empty means an even
  /// split, so that the schedule serves any element count.
  std::vector<std::int64_t> offsets;

  /// The elements of `count` chunks from `first`, of a buffer of `elements`. An even split gives the
  /// first `elements % chunks` chunks one element more. With `offsets`, `elements` must equal the last.
  ElementRange range(int first, int count, std::int64_t elements) const;
};

/// The offsets of an even split: what `Schedule::range` does without offsets.
std::vector<std::int64_t> even_offsets(int chunks, std::int64_t elements);

}  // namespace hbench
