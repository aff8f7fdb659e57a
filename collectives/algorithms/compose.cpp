#include "collectives/algorithms/compose.hpp"

#include <algorithm>
#include <stdexcept>

namespace hbench {

Schedule empty_schedule(const World& world, CollectiveKind collective, int chunks) {
  return {.world = world, .collective = collective, .chunks = chunks, .rounds = 0};
}

void embed(Schedule& whole, const Schedule& part, const Place& place) {
  const int stride = place.stride == 0 ? place.width : place.stride;
  const auto rank_of = [&](Rank rank) {
    return place.ranks.empty() ? rank : place.ranks[static_cast<std::size_t>(rank)];
  };
  whole.transfers.reserve(whole.transfers.size() + part.transfers.size());
  for (const Transfer& transfer : part.transfers) {
    if (transfer.chunk_count > 1 && stride != place.width)
      throw std::logic_error("a transfer of several chunks does not stay in one piece");
    whole.transfers.push_back({.round = place.first_round + transfer.round * place.interval,
                               .src = rank_of(transfer.src),
                               .dst = rank_of(transfer.dst),
                               .first_chunk = place.first_chunk + transfer.first_chunk * stride,
                               .chunk_count = transfer.chunk_count * place.width,
                               .kind = transfer.kind});
  }
  if (part.rounds > 0)
    whole.rounds = std::max(whole.rounds, place.first_round + (part.rounds - 1) * place.interval + 1);
}

void order_by_round(Schedule& schedule) {
  // Counting, not comparing: there are few rounds and many transfers.
  std::vector<std::size_t> next(static_cast<std::size_t>(schedule.rounds) + 1);
  for (const Transfer& transfer : schedule.transfers) ++next[static_cast<std::size_t>(transfer.round) + 1];
  for (std::size_t round = 1; round < next.size(); ++round) next[round] += next[round - 1];
  std::vector<Transfer> ordered(schedule.transfers.size());
  for (const Transfer& transfer : schedule.transfers)
    ordered[next[static_cast<std::size_t>(transfer.round)]++] = transfer;
  schedule.transfers = std::move(ordered);
}

Schedule sequence(const Schedule& first, const Schedule& second, CollectiveKind collective) {
  if (first.chunks != second.chunks) throw std::logic_error("schedules in a sequence differ in their chunks");
  Schedule whole = empty_schedule(first.world, collective, first.chunks);
  whole.offsets = first.offsets;
  whole.transfers.reserve(first.transfers.size() + second.transfers.size());
  embed(whole, first, {});
  whole.rounds = first.rounds;
  embed(whole, second, {.first_round = first.rounds});
  return whole;
}

Schedule reversed(Schedule schedule, CollectiveKind collective) {
  schedule.collective = collective;
  std::ranges::reverse(schedule.transfers);
  for (Transfer& transfer : schedule.transfers) {
    transfer.round = schedule.rounds - 1 - transfer.round;
    std::swap(transfer.src, transfer.dst);
    transfer.kind = TransferKind::reduce;
  }
  return schedule;
}

Schedule pipelined(const Schedule& schedule, int segments, int interval) {
  Schedule whole = empty_schedule(schedule.world, schedule.collective, schedule.chunks * segments);
  whole.transfers.reserve(schedule.transfers.size() * static_cast<std::size_t>(segments));
  for (int segment = 0; segment < segments; ++segment)
    embed(whole, schedule, {.first_chunk = segment, .stride = segments, .first_round = segment, .interval = interval});
  order_by_round(whole);
  return whole;
}

}  // namespace hbench
