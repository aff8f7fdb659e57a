#pragma once

#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench::support {

/// What `schedule` really costs for a buffer of `elements` elements: its rounds, and the elements sent
/// and received by the busiest rank (each maximum taken apart). A transfer from a rank to itself is free.
inline Cost count_cost(const Schedule& schedule, std::int64_t elements) {
  const auto ranks = static_cast<std::size_t>(schedule.world.ranks());
  std::vector<std::int64_t> sent(ranks);
  std::vector<std::int64_t> received(ranks);
  const std::vector<std::int64_t> even =
      schedule.offsets.empty() ? even_offsets(schedule.chunks, elements) : std::vector<std::int64_t>{};
  const std::vector<std::int64_t>& offsets = schedule.offsets.empty() ? even : schedule.offsets;
  for (const Transfer& transfer : schedule.transfers) {
    if (transfer.src == transfer.dst) continue;
    const auto first = static_cast<std::size_t>(transfer.first_chunk);
    const std::int64_t size = offsets[first + static_cast<std::size_t>(transfer.chunk_count)] - offsets[first];
    sent[static_cast<std::size_t>(transfer.src)] += size;
    received[static_cast<std::size_t>(transfer.dst)] += size;
  }
  return {.rounds = schedule.rounds, .sent = std::ranges::max(sent), .received = std::ranges::max(received)};
}

}  // namespace hbench::support
