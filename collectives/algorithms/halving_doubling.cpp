#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"
#include "collectives/algorithms/fold.hpp"
#include "collectives/algorithms/peers.hpp"

namespace hbench {

extern const Algorithm kRecursiveDoublingAllGather;
extern const Algorithm kRecursiveHalving;

namespace {

/// `value` with its lowest `bits` bits in opposite order.
int mirrored(int value, int bits) {
  int result = 0;
  for (int bit = 0; bit < bits; ++bit) result |= ((value >> bit) & 1) << (bits - 1 - bit);
  return result;
}

ScheduleRequest of_core(const Fold& fold) { return {.world = {.workers = fold.core()}}; }

/// Recursive halving begins with the largest messages and the farthest partners. Under mirrored names the partners are
/// the nearest: the largest messages stay within a node.
Schedule build(const ScheduleRequest& request) {
  const Fold fold(request.world.workers);
  const ScheduleRequest core_request = of_core(fold);
  const Schedule once = sequence(kRecursiveHalving.build(core_request), kRecursiveDoublingAllGather.build(core_request),
                                 CollectiveKind::all_reduce);
  std::vector<Rank> names;
  for (int member = 0; member < fold.core(); ++member) names.push_back(mirrored(member, fold.steps()));
  Schedule core = empty_schedule(once.world, CollectiveKind::all_reduce, once.chunks);
  embed(core, once, {.ranks = names});
  return folded_all_reduce(request.world, core);
}

Shape shape(const ScheduleRequest& request) {
  const Fold fold(request.world.workers);
  const std::int64_t core = 2 * kRecursiveDoublingAllGather.shape(of_core(fold)).transfers;
  return {.chunks = fold.core(),
          .rounds = 2 * fold.steps() + 2 * folding_rounds(fold),
          .transfers = core + 2 * fold.extras(),
          .ranges = true};
}

Traffic traffic(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  const Fold fold(request.world.workers);
  const Traffic everything{cut.total(), cut.total()};
  if (fold.is_extra(rank)) return everything;
  const int member = fold.member_of(rank);
  const Traffic gathers = kRecursiveDoublingAllGather.traffic(of_core(fold), cut, mirrored(member, fold.steps()));
  return gathers.reversed() + gathers + (member < fold.extras() ? everything : Traffic{});
}

}  // namespace

extern const Algorithm kHalvingDoubling;
constinit const Algorithm kHalvingDoubling{
    .name = "halving-doubling",
    .summary =
        "recursive halving, then recursive doubling: bandwidth-optimal in 2 lg P rounds where P is a power of "
        "two",
    .citation =
        "Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004; Thakur, Rabenseifner and Gropp, "
        "Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .refuses = refuse_servers,
    .build = build,
    .shape = shape,
    .traffic = traffic,
    .reduce_scatter = &kRecursiveHalving,
    .all_gather = &kRecursiveDoublingAllGather,
};

}  // namespace hbench
