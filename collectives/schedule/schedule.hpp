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
///
/// Schedules whose transfers are kept as runs: a ring of 8192 ranks has 134 million transfers and 49 thousand runs.
///
/// Ranks in groups of equal size that all do the same at once: one schedule of the whole world.

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

/// Returns whether both carry some chunk.
constexpr bool overlap(const Transfer& a, const Transfer& b) {
  return a.first_chunk < b.first_chunk + b.chunk_count && b.first_chunk < a.first_chunk + a.chunk_count;
}

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

/// `count` transfers of one round, one after the other in its order: ranks and first chunks go on by fixed steps.
struct TransferRun {
  Transfer first;
  std::int32_t count = 1;
  std::int32_t src_step = 0;
  std::int32_t dst_step = 0;
  std::int32_t chunk_step = 0;

  Transfer at(int index) const {
    Transfer transfer = first;
    transfer.src += index * src_step;
    transfer.dst += index * dst_step;
    transfer.first_chunk += index * chunk_step;
    return transfer;
  }

  friend bool operator==(const TransferRun&, const TransferRun&) = default;
};

/// A `Schedule` with its transfers as runs, in the same order.
struct RunSchedule {
  World world;
  CollectiveKind collective = CollectiveKind::all_reduce;
  int chunks = 1;
  int rounds = 0;
  /// The number of equal parts that the chunks are; outside the one part that a rank looks after it is never sent less
  /// than whole parts. What the simulator keeps of other parts is then one time each. It checks this, and takes 1 for
  /// all chunks where it does not hold.
  int parts = 1;
  std::vector<TransferRun> runs;      ///< sorted by round
  std::vector<std::int64_t> offsets;  ///< as in `Schedule`
};

/// Adds `transfer` to the last of `runs` where that goes on with it, else as a run of its own.
void append(std::vector<TransferRun>& runs, const Transfer& transfer);

RunSchedule to_runs(const Schedule& schedule);
Schedule to_transfers(const RunSchedule& schedule);

/// How many transfers there are.
std::int64_t transfers_of(const RunSchedule& schedule);

/// Where a schedule goes inside a larger one, when its ranks go on by a fixed step there.
struct RunPlace {
  /// Rank r of the part is rank `first_rank + r * rank_step` of the whole.
  Rank first_rank = 0;
  int rank_step = 1;
  /// Chunk c of the part is the `width` chunks of the whole from `first_chunk + c * width` on.
  int first_chunk = 0;
  int width = 1;
  int first_round = 0;
};

/// Adds the runs of `part` to those of `whole`, which then lasts at least until they have ended. Their order is for
/// `order_by_round` to restore.
void embed(RunSchedule& whole, const RunSchedule& part, const RunPlace& place);

/// Sorts by round, and leaves the order within rounds.
void order_by_round(RunSchedule& schedule);

/// Ranks r, r + stride, r + 2 stride ... are one group, of `size` ranks. Every rank is in one.
struct RankGroups {
  int size = 0;  ///< 0: as many as there are
  int stride = 1;

  /// Whether all ranks are one group.
  bool all() const { return size == 0 && stride == 1; }
  /// Returns the number of ranks in each group.
  int size_among(int ranks) const { return size > 0 ? size : ranks / stride; }
  /// Returns the number of ranks of which a world has a multiple: fewer have no whole groups.
  int unit() const { return size > 0 ? size * stride : stride; }
  /// Returns the place of a rank in its group.
  int place(Rank rank, int ranks) const { return rank / stride % size_among(ranks); }
  /// Returns the ranks of each group, in order. \pre `ranks` is a multiple of `unit`
  std::vector<std::vector<Rank>> members(int ranks) const;
  /// Whether every group lies in one of the runs of `per_node` ranks.
  bool within(int per_node) const { return size > 0 && per_node % unit() == 0; }

  friend auto operator<=>(const RankGroups&, const RankGroups&) = default;
};

/// Returns `part`, of the ranks of one group, done in all groups of `ranks` ranks at once. \pre as `members`
RunSchedule in_groups(const RunSchedule& part, int ranks, const RankGroups& groups);

/// What one rank does in a schedule, worked out before any transport is known: its transfers, sorted by round. Made
/// once per schedule and rank.
struct RankPlan {
  struct Step {
    std::vector<Transfer> sends;     ///< in posting order
    std::vector<Transfer> receives;  ///< in posting order
  };
  Schedule schedule;  ///< without the transfers of other ranks
  Rank rank = 0;
  bool copies = false;      ///< some rank of the schedule copies to another
  std::vector<Step> steps;  ///< one per round in which this rank takes part
};

/// Transfers from a rank to itself are dropped: the data is there.
RankPlan plan_for(const Schedule& schedule, Rank rank);

}  // namespace hbench
