#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/peers.hpp"

namespace hbench {
namespace {

/// P chunks travel around the ring twice: P-1 rounds in which each rank adds the chunk that it receives and
/// passes the sum on, then P-1 rounds in which the finished chunks are copied along.
Schedule build_ring(const ScheduleRequest& request) {
  const int ranks = request.world.workers;
  const int half = ranks - 1;
  Schedule schedule{.world = request.world, .chunks = ranks, .rounds = 2 * half, .transfers = {}, .offsets = {}};
  schedule.transfers.reserve(static_cast<std::size_t>(2 * half) * static_cast<std::size_t>(ranks));
  for (int round = 0; round < 2 * half; ++round) {
    const bool reducing = round < half;
    for (Rank rank = 0; rank < ranks; ++rank) {
      // Rank r first sends chunk r and ends the first half with the finished chunk r + 1; each half goes one chunk
      // down per round. Modulo P both are r - round.
      const int chunk = (rank - round + 2 * ranks) % ranks;
      schedule.transfers.push_back({.round = round,
                                    .src = rank,
                                    .dst = (rank + 1) % ranks,
                                    .first_chunk = chunk,
                                    .chunk_count = 1,
                                    .kind = reducing ? TransferKind::reduce : TransferKind::copy});
    }
  }
  return schedule;
}

/// Each rank sends everything twice, less two neighbouring chunks; the busiest keeps the two shortest.
Cost cost_ring(const ScheduleRequest& request, std::int64_t elements) {
  const std::int64_t ranks = request.world.workers;
  if (ranks == 1) return {};
  const std::int64_t short_chunks = ranks - elements % ranks;
  const std::int64_t kept = 2 * (elements / ranks) + (short_chunks == 1 ? 1 : 0);
  return {.rounds = static_cast<int>(2 * (ranks - 1)), .sent = 2 * elements - kept, .received = 2 * elements - kept};
}

}  // namespace

extern const Algorithm kRing;
constinit const Algorithm kRing{
    .name = "ring",
    .summary = "reduce-scatter, then all-gather, around a ring: bandwidth-optimal, 2(P-1) rounds",
    .citation =
        "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
        "J. Parallel Distrib. Comput. 69(2), 2009",
    .refuses = refuse_servers,
    .build = build_ring,
    .cost = cost_ring,
};

}  // namespace hbench
