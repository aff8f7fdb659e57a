#pragma once

/// Schedules whose transfers are kept as runs: a ring of 8192 ranks has 134 million transfers and 49 thousand runs.

#include <cstdint>
#include <vector>

#include "collectives/schedule/schedule.hpp"

namespace hbench {

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

}  // namespace hbench
