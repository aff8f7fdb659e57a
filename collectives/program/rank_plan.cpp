#include "collectives/program/rank_plan.hpp"

namespace hbench {

RankPlan plan_for(const Schedule& schedule, Rank rank) {
  RankPlan plan;
  plan.rank = rank;
  plan.schedule = {.world = schedule.world,
                   .collective = schedule.collective,
                   .chunks = schedule.chunks,
                   .rounds = schedule.rounds,
                   .offsets = schedule.offsets};
  for (const Transfer& transfer : schedule.transfers) {
    plan.copies = plan.copies || transfer.kind == TransferKind::copy;
    if (transfer.src == transfer.dst || (transfer.src != rank && transfer.dst != rank)) continue;
    const auto& mine = plan.schedule.transfers;
    if (mine.empty() || mine.back().round != transfer.round) plan.steps.emplace_back();
    RankPlan::Step& step = plan.steps.back();
    (transfer.src == rank ? step.sends : step.receives).push_back(transfer);
    plan.schedule.transfers.push_back(transfer);
  }
  return plan;
}

}  // namespace hbench
