#include "collectives/cost.hpp"

#include <algorithm>

namespace hbench {

Cost count_cost(const Schedule& schedule, std::int64_t elements) {
  const auto ranks = static_cast<std::size_t>(schedule.world.ranks());
  std::vector<std::int64_t> sent(ranks);
  std::vector<std::int64_t> received(ranks);
  for (const Transfer& transfer : schedule.transfers) {
    if (transfer.src == transfer.dst) continue;
    const std::int64_t size = schedule.range(transfer.first_chunk, transfer.chunk_count, elements).size();
    sent[static_cast<std::size_t>(transfer.src)] += size;
    received[static_cast<std::size_t>(transfer.dst)] += size;
  }
  return {.rounds = schedule.rounds, .sent = std::ranges::max(sent), .received = std::ranges::max(received)};
}

}  // namespace hbench
