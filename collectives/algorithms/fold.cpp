#include "collectives/algorithms/fold.hpp"

#include "collectives/algorithms/compose.hpp"

namespace hbench {

Schedule folded_all_reduce(const World& world, const Schedule& core) {
  const Fold fold(world.workers);
  Schedule whole = empty_schedule(world, CollectiveKind::all_reduce, core.chunks);
  const auto exchange = [&](TransferKind kind) {
    if (fold.extras() == 0) return;
    for (int pair = 0; pair < fold.extras(); ++pair) {
      Rank src = fold.extra(pair), dst = fold.rank_of(pair);
      if (kind == TransferKind::copy) std::swap(src, dst);
      whole.transfers.push_back({whole.rounds, src, dst, 0, core.chunks, kind});
    }
    ++whole.rounds;
  };
  exchange(TransferKind::reduce);
  const std::vector<Rank> ranks = fold.ranks();
  embed(whole, core, {.ranks = ranks, .first_round = whole.rounds});
  exchange(TransferKind::copy);
  return whole;
}

}  // namespace hbench
