#pragma once

/// The algebra that the algorithms are built from: schedules are values, so they can be turned around, put one after
/// the other, cut into segments, and made parts of larger ones.

#include <span>

#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// Where a schedule goes inside a larger one.
struct Place {
  /// Rank r of the part is `ranks[r]` of the whole; empty where they are the same.
  std::span<const Rank> ranks = {};
  /// Chunk c of the part is the `width` chunks of the whole from `first_chunk + c * stride` on. Transfers of several
  /// chunks need `stride == width`, so that they stay in one piece; 0 is that.
  int first_chunk = 0;
  int width = 1;
  int stride = 0;
  /// Round t of the part is round `first_round + t * interval` of the whole.
  int first_round = 0;
  int interval = 1;
};

/// A schedule of `world` that moves nothing yet.
Schedule empty_schedule(const World& world, CollectiveKind collective, int chunks);

/// Adds the transfers of `part` to those of `whole`, which then lasts at least until they have ended. Their order is
/// for `order_by_round` to restore.
void embed(Schedule& whole, const Schedule& part, const Place& place);

/// Sorts by round, and leaves the order within rounds.
void order_by_round(Schedule& schedule);

/// `first`, then `second`, of the same ranks and chunks; the result has `collective`.
Schedule sequence(const Schedule& first, const Schedule& second, CollectiveKind collective);

/// Backwards, with sums in the place of copies. It turns an all-gather into a reduce-scatter and a broadcast into a
/// reduction to rank 0 (which is the first half of an all-reduce) wherever every rank receives every chunk that it
/// lacks exactly once: the way of a chunk is a tree, and run backwards the tree adds up.
Schedule reversed(Schedule schedule, CollectiveKind collective);

/// `segments` copies of `schedule` that follow each other one round apart: segment s of chunk c is chunk
/// `c * segments + s`. A round of the original and the next one are `interval` rounds apart.
Schedule pipelined(const Schedule& schedule, int segments, int interval);

}  // namespace hbench
