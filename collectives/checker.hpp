#pragma once

/// Proof that a schedule is an all-reduce, by symbolic execution.

#include <optional>
#include <string>

#include "collectives/schedule.hpp"

namespace hbench {

/// What is wrong with a schedule.
struct Fault {
  /// Index into `Schedule::transfers` of the first wrong one; none when the end state is wrong.
  std::optional<std::size_t> transfer;
  /// One sentence with ranks, round and chunk.
  std::string what;
};

/// Executes `schedule` on sets of contributions (one bit per worker, per rank and chunk).
/// Refuses: ranks, chunks or rounds out of range; unsorted rounds; a contribution added twice; two
/// transfers of one round that write one chunk other than by disjoint reduces; a worker that ends without
/// every contribution. Returns nothing when the schedule is proved. O(transfers * workers / 64).
std::optional<Fault> check(const Schedule& schedule);

}  // namespace hbench
