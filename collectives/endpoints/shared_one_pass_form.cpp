#include <algorithm>

#include "collectives/endpoints/shared_one_pass.hpp"

namespace hbench {
namespace {

/// How one chunk travels.
struct Journey {
  Rank owner = -1;  ///< the rank that takes the contributions, or gives the result
  int reduce_round = -1;
  int copy_round = -1;
  int reduces = 0;
  int copies = 0;
};

/// Adds `transfer` to the journey of a chunk; false where it cannot belong to one of a single owner.
bool add(const Transfer& transfer, Journey& journey) {
  const bool reduces = transfer.kind == TransferKind::reduce;
  const Rank owner = reduces ? transfer.dst : transfer.src;
  int& round = reduces ? journey.reduce_round : journey.copy_round;
  if (journey.owner < 0) journey.owner = owner;
  if (round < 0) round = transfer.round;
  ++(reduces ? journey.reduces : journey.copies);
  return owner == journey.owner && round == transfer.round;
}

/// Whether the owner gets the contribution of every other rank, and every other rank its result.
bool whole(const Schedule& schedule, const Journey& journey) {
  const int workers = schedule.world.workers;
  const int others = journey.owner >= 0 && journey.owner < workers ? workers - 1 : workers;
  if (workers == 1 && journey.owner < 0) return true;
  switch (schedule.collective) {
    case CollectiveKind::all_reduce:
      return journey.reduces == others && journey.copies == others && journey.reduce_round < journey.copy_round;
    case CollectiveKind::reduce_scatter:
      return journey.reduces == others && journey.copies == 0;
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast:
      return journey.reduces == 0 && journey.copies == others;
  }
  return false;
}

}  // namespace

bool has_one_pass_form(const Schedule& schedule) {
  std::vector<Journey> journeys(static_cast<std::size_t>(schedule.chunks));
  for (const Transfer& transfer : schedule.transfers) {
    if (transfer.src == transfer.dst) continue;
    for (int chunk = transfer.first_chunk; chunk < transfer.first_chunk + transfer.chunk_count; ++chunk)
      if (!add(transfer, journeys[static_cast<std::size_t>(chunk)])) return false;
  }
  return std::ranges::all_of(journeys, [&](const Journey& journey) { return whole(schedule, journey); });
}

}  // namespace hbench
