#pragma once

/// The algebra that the algorithms are built from: schedules are values, so they can be turned around, put one after
/// the other, cut into segments, and made parts of larger ones.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "collectives/algorithms/algorithm.hpp"
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

/// Why `world` is none of workers only, or empty when it is: `Algorithm::refuses` of algorithms without servers.
inline std::string refuse_servers(const World& world) {
  if (world.workers < 1) return "it needs at least 1 worker";
  if (world.servers != 0) return "it has no parameter servers: all ranks are workers";
  return {};
}

/// Into how many segments to cut a message of `bytes`: about `target` bytes each, at least `fewest` of them as long as
/// that leaves each 16 KiB (below, a message costs as much for itself as for its bytes), and at most `most`.
inline int segments_of(std::int64_t bytes, std::int64_t target, int fewest, int most) {
  constexpr std::int64_t kLeast = 16 * 1024;
  const std::int64_t wanted = std::max((bytes + target - 1) / target, std::min<std::int64_t>(fewest, bytes / kLeast));
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, most));
}

/// `groups` groups of `members` ranks each: rank `group * group_step + member * member_step`.
struct Grid {
  int groups = 1;
  int members = 1;
  int group_step = 1;
  int member_step = 1;

  Rank rank(int group, int member) const { return group * group_step + member * member_step; }
};

/// An all-reduce of a grid: a reduce-scatter inside every group, all-reduces of the parts across the groups side by
/// side, an all-gather inside every group.
struct TwoLevel {
  Grid grid;
  const Algorithm* inner = nullptr;  ///< an all-reduce with `reduce_scatter` and `all_gather`
  const Algorithm* outer = nullptr;  ///< an all-reduce without servers, groups or parameters
  int segments = 1;                  ///< of both

  Shape shape() const;
  /// Adds the transfers to `whole`, in the chunks from `first_chunk` on and from round 0; their order is for
  /// `order_by_round` to restore.
  void embed_in(RunSchedule& whole, int first_chunk) const;
  /// `cut` is of the chunks of `shape`.
  Traffic traffic(const Cut& cut, int group, int member) const;

 private:
  ScheduleRequest inside() const { return {.world = {.workers = grid.members}, .segments = segments}; }
  ScheduleRequest across() const { return {.world = {.workers = grid.groups}, .segments = segments}; }
  /// Chunks of one member's part.
  int part_chunks() const;
  void embed_inside(RunSchedule& whole, const Algorithm& scheme, int first_chunk, int first_round) const;
};

}  // namespace hbench
