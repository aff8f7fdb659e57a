#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"
#include "collectives/algorithms/peers.hpp"

namespace hbench {
namespace {

constexpr std::string_view kCitation =
    "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
    "J. Parallel Distrib. Comput. 69(2), 2009";

/// P-1 rounds in which every rank sends one chunk to the next rank; `first` is how far behind rank 0 its first chunk
/// is. Each round goes on with the chunk that came in the one before.
Schedule once_around(const World& world, Goal goal, int first, TransferKind kind) {
  const int ranks = world.workers;
  Schedule schedule = empty_schedule(world, goal, ranks);
  schedule.rounds = ranks - 1;
  for (int round = 0; round < ranks - 1; ++round)
    for (Rank rank = 0; rank < ranks; ++rank)
      schedule.transfers.push_back({.round = round,
                                    .src = rank,
                                    .dst = (rank + 1) % ranks,
                                    .first_chunk = (rank - first - round + 2 * ranks) % ranks,
                                    .chunk_count = 1,
                                    .kind = kind});
  return schedule;
}

/// Chunk r sets out at rank r+1 and reaches rank r last, with everybody's contribution.
Schedule build_reduce_scatter(const ScheduleRequest& request) {
  return once_around(request.world, Goal::reduce_scatter, 1, TransferKind::reduce);
}

Schedule build_all_gather(const ScheduleRequest& request) {
  return once_around(request.world, Goal::all_gather, 0, TransferKind::copy);
}

Schedule build_all_reduce(const ScheduleRequest& request) {
  return sequence(build_reduce_scatter(request), build_all_gather(request), Goal::all_reduce);
}

Shape shape_once(const ScheduleRequest& request) { return {request.world.workers, request.world.workers - 1}; }

Shape shape_twice(const ScheduleRequest& request) { return {request.world.workers, 2 * (request.world.workers - 1)}; }

/// A rank passes everything on but the chunk that it keeps; the rank before it keeps what it does not get.
Traffic traffic_reduce_scatter(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  const int ranks = request.world.workers;
  return {cut.total() - cut.size(rank), cut.total() - cut.size((rank + ranks - 1) % ranks)};
}

/// The next rank has one chunk from the beginning, as has the rank itself.
Traffic traffic_all_gather(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  return {cut.total() - cut.size((rank + 1) % request.world.workers), cut.total() - cut.size(rank)};
}

Traffic traffic_all_reduce(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  return traffic_reduce_scatter(request, cut, rank) + traffic_all_gather(request, cut, rank);
}

}  // namespace

extern const Algorithm kRingReduceScatter;
constinit const Algorithm kRingReduceScatter{
    .name = "ring",
    .summary = "each part collects the contributions once around a ring: bandwidth-optimal, P-1 rounds",
    .citation = kCitation,
    .goal = Goal::reduce_scatter,
    .refuses = refuse_servers,
    .build = build_reduce_scatter,
    .shape = shape_once,
    .traffic = traffic_reduce_scatter,
};

extern const Algorithm kRingAllGather;
constinit const Algorithm kRingAllGather{
    .name = "ring",
    .summary = "each part travels once around a ring: bandwidth-optimal, P-1 rounds",
    .citation = kCitation,
    .goal = Goal::all_gather,
    .refuses = refuse_servers,
    .build = build_all_gather,
    .shape = shape_once,
    .traffic = traffic_all_gather,
};

extern const Algorithm kRing;
constinit const Algorithm kRing{
    .name = "ring",
    .summary = "reduce-scatter, then all-gather, around a ring: bandwidth-optimal, 2(P-1) rounds",
    .citation = kCitation,
    .refuses = refuse_servers,
    .build = build_all_reduce,
    .shape = shape_twice,
    .traffic = traffic_all_reduce,
    .reduce_scatter = &kRingReduceScatter,
    .all_gather = &kRingAllGather,
};

}  // namespace hbench
