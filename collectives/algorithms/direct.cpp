#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"

namespace hbench {
namespace {

constexpr std::string_view kCitation =
    "Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, Int. J. High "
    "Perform. Comput. Appl. 19(1), 2005 (pairwise exchange and isends to all)";

Shape shape_once(const ScheduleRequest& request) {
  const int ranks = request.world.workers;
  return {ranks, ranks > 1 ? 1 : 0, std::int64_t{ranks} * (ranks - 1)};
}

Shape shape_twice(const ScheduleRequest& request) {
  const Shape once = shape_once(request);
  return {once.chunks, 2 * once.rounds, 2 * once.transfers};
}

/// Every rank sends its part to all others. Rank r begins at rank r+1: each step is a permutation, and nobody is sent
/// to by all at once.
Schedule build_all_gather(const ScheduleRequest& request) {
  const int ranks = request.world.workers;
  Schedule schedule = empty_schedule(request.world, CollectiveKind::all_gather, ranks);
  const Shape shape = shape_once(request);
  schedule.rounds = shape.rounds;
  schedule.transfers.reserve(static_cast<std::size_t>(shape.transfers));
  for (int step = 1; step < ranks; ++step)
    for (Rank rank = 0; rank < ranks; ++rank)
      schedule.transfers.push_back({.round = 0, .src = rank, .dst = (rank + step) % ranks, .first_chunk = rank});
  return schedule;
}

Schedule build_reduce_scatter(const ScheduleRequest& request) {
  return reversed(build_all_gather(request), CollectiveKind::reduce_scatter);
}

Schedule build_all_reduce(const ScheduleRequest& request) {
  return sequence(build_reduce_scatter(request), build_all_gather(request), CollectiveKind::all_reduce);
}

Traffic traffic_all_gather(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  return {(request.world.workers - 1) * cut.size(rank), cut.total() - cut.size(rank)};
}

Traffic traffic_reduce_scatter(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  return traffic_all_gather(request, cut, rank).reversed();
}

Traffic traffic_all_reduce(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  return traffic_reduce_scatter(request, cut, rank) + traffic_all_gather(request, cut, rank);
}

}  // namespace

extern constinit const Algorithm kDirectReduceScatter{
    .name = "direct",
    .summary = "every rank gets its part from all others at once: 1 round, for switches and shared memory",
    .citation = kCitation,
    .collective = CollectiveKind::reduce_scatter,
    .refuses = refuse_servers,
    .build = build_reduce_scatter,
    .shape = shape_once,
    .traffic = traffic_reduce_scatter,
};

extern constinit const Algorithm kDirectAllGather{
    .name = "direct",
    .summary = "every rank sends its part to all others at once: 1 round, for switches and shared memory",
    .citation = kCitation,
    .collective = CollectiveKind::all_gather,
    .refuses = refuse_servers,
    .build = build_all_gather,
    .shape = shape_once,
    .traffic = traffic_all_gather,
};

extern constinit const Algorithm kDirect{
    .name = "direct",
    .summary = "every rank adds up one part from all others and sends the sum to all: 2 rounds, bandwidth-optimal",
    .citation = kCitation,
    .refuses = refuse_servers,
    .build = build_all_reduce,
    .shape = shape_twice,
    .traffic = traffic_all_reduce,
    .reduce_scatter = &kDirectReduceScatter,
    .all_gather = &kDirectAllGather,
};

}  // namespace hbench
