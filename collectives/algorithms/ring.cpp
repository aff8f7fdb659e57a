#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"

namespace hbench {
namespace {

constexpr std::string_view kCitation =
    "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, "
    "J. Parallel Distrib. Comput. 69(2), 2009";

/// A round is one run around the ring, cut where chunks and where ranks begin again from 0.
constexpr std::int64_t kRunsPerRound = 3;

Shape shape_once(const ScheduleRequest& request) {
  const int ranks = request.world.workers;
  const int rounds = ranks - 1;
  return {.chunks = ranks,
          .rounds = rounds,
          .transfers = std::int64_t{ranks} * rounds,
          .runs = kRunsPerRound * rounds,
          .carried = true};
}

Shape shape_twice(const ScheduleRequest& request) {
  Shape twice = shape_once(request);
  twice.rounds *= 2;
  twice.transfers *= 2;
  twice.runs *= 2;
  return twice;
}

RunSchedule empty_runs(const World& world, CollectiveKind collective) {
  return {.world = world, .collective = collective, .chunks = world.workers};
}

/// Appends P-1 rounds in which every rank sends one chunk to the next rank; `first` is how far behind rank 0 its first
/// chunk is. Each round goes on with the chunk that came in the one before.
void go_around(RunSchedule& schedule, int first, TransferKind kind) {
  const int ranks = schedule.world.workers;
  for (int step = 0; step < ranks - 1; ++step, ++schedule.rounds) {
    const auto chunk_of = [&](Rank rank) { return (rank - first - step + 2 * ranks) % ranks; };
    // Chunk 0 is sent by this rank, and the last rank sends to rank 0.
    const Rank chunk_zero = (first + step) % ranks;
    for (Rank rank = 0; rank < ranks;) {
      const Rank end = rank < chunk_zero ? std::min(chunk_zero, ranks - 1) : rank < ranks - 1 ? ranks - 1 : ranks;
      schedule.runs.push_back({.first = {.round = schedule.rounds,
                                         .src = rank,
                                         .dst = (rank + 1) % ranks,
                                         .first_chunk = chunk_of(rank),
                                         .chunk_count = 1,
                                         .kind = kind},
                               .count = end - rank,
                               .src_step = 1,
                               .dst_step = 1,
                               .chunk_step = 1});
      rank = end;
    }
  }
}

/// Chunk r sets out at rank r+1 and reaches rank r last, with everybody's contribution.
void scatter(RunSchedule& schedule) { go_around(schedule, 1, TransferKind::reduce); }

void gather(RunSchedule& schedule) { go_around(schedule, 0, TransferKind::copy); }

RunSchedule runs_reduce_scatter(const ScheduleRequest& request) {
  RunSchedule schedule = empty_runs(request.world, CollectiveKind::reduce_scatter);
  scatter(schedule);
  return schedule;
}

RunSchedule runs_all_gather(const ScheduleRequest& request) {
  RunSchedule schedule = empty_runs(request.world, CollectiveKind::all_gather);
  gather(schedule);
  return schedule;
}

RunSchedule runs_all_reduce(const ScheduleRequest& request) {
  RunSchedule schedule = empty_runs(request.world, CollectiveKind::all_reduce);
  scatter(schedule);
  gather(schedule);
  return schedule;
}

template <RunSchedule (*runs)(const ScheduleRequest&)>
Schedule build(const ScheduleRequest& request) {
  return to_transfers(runs(request));
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

extern constinit const Algorithm kRingReduceScatter{
    .name = "ring",
    .summary = "each part collects the contributions once around a ring: bandwidth-optimal, P-1 rounds",
    .citation = kCitation,
    .collective = CollectiveKind::reduce_scatter,
    .refuses = refuse_servers,
    .build = build<runs_reduce_scatter>,
    .shape = shape_once,
    .traffic = traffic_reduce_scatter,
    .build_runs = runs_reduce_scatter,
};

extern constinit const Algorithm kRingAllGather{
    .name = "ring",
    .summary = "each part travels once around a ring: bandwidth-optimal, P-1 rounds",
    .citation = kCitation,
    .collective = CollectiveKind::all_gather,
    .refuses = refuse_servers,
    .build = build<runs_all_gather>,
    .shape = shape_once,
    .traffic = traffic_all_gather,
    .build_runs = runs_all_gather,
};

extern constinit const Algorithm kRing{
    .name = "ring",
    .summary = "reduce-scatter, then all-gather, around a ring: bandwidth-optimal, 2(P-1) rounds",
    .citation = kCitation,
    .refuses = refuse_servers,
    .build = build<runs_all_reduce>,
    .shape = shape_twice,
    .traffic = traffic_all_reduce,
    .reduce_scatter = &kRingReduceScatter,
    .all_gather = &kRingAllGather,
    .build_runs = runs_all_reduce,
};

}  // namespace hbench
