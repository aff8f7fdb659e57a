#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"

namespace hbench {

extern const Algorithm kRing;

namespace {

/// The largest divisor up to the root: rows of a grid as square as can be. 1 for a prime, where the torus is a ring.
int rows_of(int ranks) {
  int rows = 1;
  for (int divisor = 2; divisor * divisor <= ranks; ++divisor)
    if (ranks % divisor == 0) rows = divisor;
  return rows;
}

/// Half the data goes along rows first, half along columns first: both dimensions are busy in every round.
struct Halves {
  explicit Halves(int ranks) : rows(rows_of(ranks)), columns(ranks / rows) {}

  int rows, columns;
  TwoLevel rows_first{.grid = {.groups = rows, .members = columns, .group_step = columns, .member_step = 1},
                      .inner = &kRing,
                      .outer = &kRing};
  TwoLevel columns_first{.grid = {.groups = columns, .members = rows, .group_step = 1, .member_step = columns},
                         .inner = &kRing,
                         .outer = &kRing};
};

RunSchedule build_runs(const ScheduleRequest& request) {
  const int ranks = request.world.workers;
  const Halves halves(ranks);
  RunSchedule schedule{.world = request.world, .chunks = 2 * ranks};
  halves.rows_first.embed_in(schedule, 0);
  halves.columns_first.embed_in(schedule, ranks);
  order_by_round(schedule);
  return schedule;
}

Schedule build(const ScheduleRequest& request) { return to_transfers(build_runs(request)); }

/// Each half has 2(rows - 1) and 2(columns - 1) rounds, in one order or the other.
Shape shape(const ScheduleRequest& request) {
  const Halves halves(request.world.workers);
  const Shape first = halves.rows_first.shape(), second = halves.columns_first.shape();
  return {.chunks = 2 * request.world.workers,
          .rounds = 2 * (halves.rows - 1) + 2 * (halves.columns - 1),
          .transfers = first.transfers + second.transfers,
          .runs = first.runs + second.runs,
          .ranges = true};
}

Traffic traffic(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  const int ranks = request.world.workers;
  const Halves halves(ranks);
  const int row = rank / halves.columns;
  const int column = rank % halves.columns;
  return halves.rows_first.traffic(cut.part(0, ranks), row, column) +
         halves.columns_first.traffic(cut.part(ranks, ranks), column, row);
}

}  // namespace

extern constinit const Algorithm kTorus{
    .name = "torus",
    .summary =
        "rings along rows and columns of a grid, both busy with half the data: bandwidth-optimal in about "
        "4 sqrt(P) rounds; a ring where P is prime",
    .citation =
        "Mikami et al., Massively Distributed SGD: ImageNet/ResNet-50 Training in a Flash, arXiv:1811.05233, 2018; "
        "Ying "
        "et al., Image Classification at Supercomputer Scale, arXiv:1811.06992, 2018 (both dimensions at once)",
    .refuses = refuse_servers,
    .build = build,
    .shape = shape,
    .traffic = traffic,
    .build_runs = build_runs,
};

}  // namespace hbench
