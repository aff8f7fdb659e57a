#include "collectives/schedule/schedule.hpp"

#include <algorithm>
#include <stdexcept>

namespace hbench {
namespace {

/// The first element of `chunk` in an even split: the first chunks are one element longer.
std::int64_t even_offset(std::int64_t chunk, int chunks, std::int64_t elements) {
  return chunk * (elements / chunks) + std::min(chunk, elements % chunks);
}

}  // namespace

ElementRange Schedule::range(int first, int count, std::int64_t elements) const {
  if (!offsets.empty()) {
    if (elements != offsets.back()) throw std::logic_error("schedule is for another element count");
    return {offsets[static_cast<std::size_t>(first)], offsets[static_cast<std::size_t>(first + count)]};
  }
  return {even_offset(first, chunks, elements), even_offset(first + count, chunks, elements)};
}

std::vector<std::int64_t> even_offsets(int chunks, std::int64_t elements) {
  std::vector<std::int64_t> offsets;
  for (int chunk = 0; chunk <= chunks; ++chunk) offsets.push_back(even_offset(chunk, chunks, elements));
  return offsets;
}

void append(std::vector<TransferRun>& runs, const Transfer& transfer) {
  if (!runs.empty()) {
    TransferRun& last = runs.back();
    TransferRun longer = last;
    ++longer.count;
    if (last.count == 1) {
      longer.src_step = transfer.src - last.first.src;
      longer.dst_step = transfer.dst - last.first.dst;
      longer.chunk_step = transfer.first_chunk - last.first.first_chunk;
    }
    if (longer.at(last.count) == transfer) {
      last = longer;
      return;
    }
  }
  runs.push_back({.first = transfer});
}

RunSchedule to_runs(const Schedule& schedule) {
  RunSchedule whole{.world = schedule.world,
                    .collective = schedule.collective,
                    .chunks = schedule.chunks,
                    .rounds = schedule.rounds,
                    .offsets = schedule.offsets};
  for (const Transfer& transfer : schedule.transfers) append(whole.runs, transfer);
  whole.runs.shrink_to_fit();
  return whole;
}

std::int64_t transfers_of(const RunSchedule& schedule) {
  std::int64_t count = 0;
  for (const TransferRun& run : schedule.runs) count += run.count;
  return count;
}

Schedule to_transfers(const RunSchedule& schedule) {
  Schedule whole{.world = schedule.world,
                 .collective = schedule.collective,
                 .chunks = schedule.chunks,
                 .rounds = schedule.rounds,
                 .offsets = schedule.offsets};
  whole.transfers.reserve(static_cast<std::size_t>(transfers_of(schedule)));
  for (const TransferRun& run : schedule.runs)
    for (int index = 0; index < run.count; ++index) whole.transfers.push_back(run.at(index));
  return whole;
}

void embed(RunSchedule& whole, const RunSchedule& part, const RunPlace& place) {
  const auto rank_of = [&](Rank rank) { return place.first_rank + rank * place.rank_step; };
  for (const TransferRun& run : part.runs)
    whole.runs.push_back({.first = {.round = place.first_round + run.first.round,
                                    .src = rank_of(run.first.src),
                                    .dst = rank_of(run.first.dst),
                                    .first_chunk = place.first_chunk + run.first.first_chunk * place.width,
                                    .chunk_count = run.first.chunk_count * place.width,
                                    .kind = run.first.kind},
                          .count = run.count,
                          .src_step = run.src_step * place.rank_step,
                          .dst_step = run.dst_step * place.rank_step,
                          .chunk_step = run.chunk_step * place.width});
  if (part.rounds > 0) whole.rounds = std::max(whole.rounds, place.first_round + part.rounds);
}

void order_by_round(RunSchedule& schedule) {
  std::ranges::stable_sort(schedule.runs, {}, [](const TransferRun& run) { return run.first.round; });
}

std::vector<std::vector<Rank>> RankGroups::members(int ranks) const {
  const int of_group = size_among(ranks), block = of_group * stride;
  std::vector<std::vector<Rank>> all;
  for (Rank first = 0; first < ranks; ++first) {
    if (first % block >= stride) continue;
    all.emplace_back();
    for (int place = 0; place < of_group; ++place) all.back().push_back(first + place * stride);
  }
  return all;
}

RunSchedule in_groups(const RunSchedule& part, int ranks, const RankGroups& groups) {
  RunSchedule whole{.world = {.workers = ranks},
                    .collective = part.collective,
                    .chunks = part.chunks,
                    .parts = part.parts,
                    .offsets = part.offsets};
  for (const std::vector<Rank>& group : groups.members(ranks))
    embed(whole, part, {.first_rank = group.front(), .rank_step = groups.stride});
  order_by_round(whole);
  return whole;
}

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
