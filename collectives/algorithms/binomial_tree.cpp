#include <bit>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"

namespace hbench {
namespace {

/// ceil(lg P)
int levels(const World& world) { return std::bit_width(static_cast<unsigned>(world.workers - 1)); }

/// Far first: the long ways are gone once, and the last rounds stay among neighbours, who share a node.
Schedule build_broadcast(const ScheduleRequest& request) {
  const int ranks = request.world.workers;
  Schedule schedule = empty_schedule(request.world, CollectiveKind::broadcast, 1);
  schedule.rounds = levels(request.world);
  for (int round = 0; round < schedule.rounds; ++round) {
    const int distance = 1 << (schedule.rounds - 1 - round);
    for (Rank rank = 0; rank + distance < ranks; rank += 2 * distance)
      schedule.transfers.push_back({.round = round, .src = rank, .dst = rank + distance});
  }
  return schedule;
}

Schedule build_all_reduce(const ScheduleRequest& request) {
  const Schedule broadcast = build_broadcast(request);
  return sequence(reversed(broadcast, CollectiveKind::all_reduce), broadcast, CollectiveKind::all_reduce);
}

Shape shape_broadcast(const ScheduleRequest& request) { return {1, levels(request.world), request.world.workers - 1}; }

Shape shape_all_reduce(const ScheduleRequest& request) {
  return {1, 2 * levels(request.world), 2 * (request.world.workers - 1)};
}

/// Every rank but the root receives once; a rank has a child at each distance below its lowest bit.
Traffic traffic_broadcast(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  int children = 0;
  for (int distance = 1; rank + distance < request.world.workers && (rank & distance) == 0; distance *= 2) ++children;
  return {children * cut.total(), rank == 0 ? 0 : cut.total()};
}

Traffic traffic_all_reduce(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  const Traffic broadcast = traffic_broadcast(request, cut, rank);
  return broadcast.reversed() + broadcast;
}

}  // namespace

extern constinit const Algorithm kBinomialBroadcast{
    .name = "binomial",
    .summary = "whoever has the data sends them on, twice as many each round: ceil(lg P) rounds, for small buffers",
    .citation =
        "Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, Int. J. High "
        "Perform. Comput. Appl. 19(1), 2005",
    .collective = CollectiveKind::broadcast,
    .refuses = refuse_servers,
    .build = build_broadcast,
    .shape = shape_broadcast,
    .traffic = traffic_broadcast,
};

extern constinit const Algorithm kBinomialTree{
    .name = "binomial-tree",
    .summary = "reduction to rank 0 up a binomial tree, then broadcast down it: 2 ceil(lg P) rounds, small buffers",
    .citation =
        "Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, Int. J. High "
        "Perform. Comput. Appl. 19(1), 2005",
    .refuses = refuse_servers,
    .build = build_all_reduce,
    .shape = shape_all_reduce,
    .traffic = traffic_all_reduce,
};

}  // namespace hbench
