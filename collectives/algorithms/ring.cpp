#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"
#include "collectives/algorithms/peers.hpp"

namespace hbench {
namespace {

constexpr std::string_view kCitation =
    "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
    "J. Parallel Distrib. Comput. 69(2), 2009";

Shape shape_once(const ScheduleRequest& request) {
  const int ranks = request.world.workers;
  return {ranks, ranks - 1, std::int64_t{ranks} * (ranks - 1)};
}

Shape shape_twice(const ScheduleRequest& request) {
  const Shape once = shape_once(request);
  return {once.chunks, 2 * once.rounds, 2 * once.transfers};
}

/// An empty schedule with room for `shape`: large worlds have no memory for a second copy.
Schedule with_room(const World& world, CollectiveKind collective, const Shape& shape) {
  Schedule schedule = empty_schedule(world, collective, shape.chunks);
  schedule.transfers.reserve(static_cast<std::size_t>(shape.transfers));
  return schedule;
}

/// Appends P-1 rounds in which every rank sends one chunk to the next rank; `first` is how far behind rank 0 its first
/// chunk is. Each round goes on with the chunk that came in the one before.
void go_around(Schedule& schedule, int first, TransferKind kind) {
  const int ranks = schedule.world.workers;
  for (int step = 0; step < ranks - 1; ++step, ++schedule.rounds)
    for (Rank rank = 0; rank < ranks; ++rank)
      schedule.transfers.push_back({.round = schedule.rounds,
                                    .src = rank,
                                    .dst = (rank + 1) % ranks,
                                    .first_chunk = (rank - first - step + 2 * ranks) % ranks,
                                    .chunk_count = 1,
                                    .kind = kind});
}

/// Chunk r sets out at rank r+1 and reaches rank r last, with everybody's contribution.
void scatter(Schedule& schedule) { go_around(schedule, 1, TransferKind::reduce); }

void gather(Schedule& schedule) { go_around(schedule, 0, TransferKind::copy); }

Schedule build_reduce_scatter(const ScheduleRequest& request) {
  Schedule schedule = with_room(request.world, CollectiveKind::reduce_scatter, shape_once(request));
  scatter(schedule);
  return schedule;
}

Schedule build_all_gather(const ScheduleRequest& request) {
  Schedule schedule = with_room(request.world, CollectiveKind::all_gather, shape_once(request));
  gather(schedule);
  return schedule;
}

Schedule build_all_reduce(const ScheduleRequest& request) {
  Schedule schedule = with_room(request.world, CollectiveKind::all_reduce, shape_twice(request));
  scatter(schedule);
  gather(schedule);
  return schedule;
}

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
    .collective = CollectiveKind::reduce_scatter,
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
    .collective = CollectiveKind::all_gather,
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
