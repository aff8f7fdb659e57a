#pragma once

/// Proof that a schedule does what its collective says, by symbolic execution.

#include <optional>
#include <string>

#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// What is wrong with a schedule.
struct Fault {
  /// Index into `Schedule::transfers` of the first wrong one; none when the end state is wrong.
  std::optional<std::size_t> transfer;
  /// One sentence with ranks, round and chunk.
  std::string what;
};

/// Executes `schedule` on sets of contributions (one bit per worker, per rank and chunk); where data only travel
/// (all-gather, broadcast), on whether a chunk holds its data or garbage: what was in the buffer before.
/// Refuses: ranks, chunks or rounds out of range; unsorted rounds; a contribution added twice; garbage in a sum, from
/// either side; two transfers of one round that write one chunk other than by disjoint reduces; a worker that ends
/// without what the collective promises it. Garbage may be copied about, and overwritten by a copy.
/// Returns nothing when the schedule is proved. O(chunks moved * workers / 64).
std::optional<Fault> check(const Schedule& schedule);

}  // namespace hbench
