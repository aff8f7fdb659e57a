#include "collectives/algorithms/compose.hpp"

#include <numeric>
#include <stdexcept>

namespace hbench {

Schedule empty_schedule(const World& world, CollectiveKind collective, int chunks) {
  return {.world = world, .collective = collective, .chunks = chunks, .rounds = 0};
}

void embed(Schedule& whole, const Schedule& part, const Place& place) {
  const int stride = place.stride == 0 ? place.width : place.stride;
  const auto rank_of = [&](Rank rank) {
    return place.ranks.empty() ? rank : place.ranks[static_cast<std::size_t>(rank)];
  };
  whole.transfers.reserve(whole.transfers.size() + part.transfers.size());
  for (const Transfer& transfer : part.transfers) {
    if (transfer.chunk_count > 1 && stride != place.width)
      throw std::logic_error("a transfer of several chunks does not stay in one piece");
    whole.transfers.push_back({.round = place.first_round + transfer.round * place.interval,
                               .src = rank_of(transfer.src),
                               .dst = rank_of(transfer.dst),
                               .first_chunk = place.first_chunk + transfer.first_chunk * stride,
                               .chunk_count = transfer.chunk_count * place.width,
                               .kind = transfer.kind});
  }
  if (part.rounds > 0)
    whole.rounds = std::max(whole.rounds, place.first_round + (part.rounds - 1) * place.interval + 1);
}

void order_by_round(Schedule& schedule) {
  // Counting, not comparing: there are few rounds and many transfers.
  std::vector<std::size_t> next(static_cast<std::size_t>(schedule.rounds) + 1);
  for (const Transfer& transfer : schedule.transfers) ++next[static_cast<std::size_t>(transfer.round) + 1];
  for (std::size_t round = 1; round < next.size(); ++round) next[round] += next[round - 1];
  std::vector<Transfer> ordered(schedule.transfers.size());
  for (const Transfer& transfer : schedule.transfers)
    ordered[next[static_cast<std::size_t>(transfer.round)]++] = transfer;
  schedule.transfers = std::move(ordered);
}

Schedule sequence(const Schedule& first, const Schedule& second, CollectiveKind collective) {
  if (first.chunks != second.chunks) throw std::logic_error("schedules in a sequence differ in their chunks");
  Schedule whole = empty_schedule(first.world, collective, first.chunks);
  whole.offsets = first.offsets;
  whole.transfers.reserve(first.transfers.size() + second.transfers.size());
  embed(whole, first, {});
  whole.rounds = first.rounds;
  embed(whole, second, {.first_round = first.rounds});
  return whole;
}

Schedule reversed(Schedule schedule, CollectiveKind collective) {
  schedule.collective = collective;
  std::ranges::reverse(schedule.transfers);
  for (Transfer& transfer : schedule.transfers) {
    transfer.round = schedule.rounds - 1 - transfer.round;
    std::swap(transfer.src, transfer.dst);
    transfer.kind = TransferKind::reduce;
  }
  return schedule;
}

Schedule pipelined(const Schedule& schedule, int segments, int interval) {
  Schedule whole = empty_schedule(schedule.world, schedule.collective, schedule.chunks * segments);
  whole.transfers.reserve(schedule.transfers.size() * static_cast<std::size_t>(segments));
  for (int segment = 0; segment < segments; ++segment)
    embed(whole, schedule, {.first_chunk = segment, .stride = segments, .first_round = segment, .interval = interval});
  order_by_round(whole);
  return whole;
}

int TwoLevel::part_chunks() const {
  const auto per_part = [&](const Algorithm& scheme) { return scheme.shape(inside()).chunks / grid.members; };
  return std::lcm(std::lcm(per_part(*inner->reduce_scatter), per_part(*inner->all_gather)),
                  outer->shape(across()).chunks);
}

Shape TwoLevel::shape() const {
  const Shape scatter = inner->reduce_scatter->shape(inside());
  const Shape reduce = outer->shape(across());
  const Shape gather = inner->all_gather->shape(inside());
  // Inside a group a member is sent whole parts, and between groups what belongs to its own.
  const bool whole_inside = std::max(scatter.chunks, gather.chunks) == grid.members;
  return {.chunks = grid.members * part_chunks(),
          .rounds = scatter.rounds + reduce.rounds + gather.rounds,
          .transfers = grid.groups * (scatter.transfers + gather.transfers) + grid.members * reduce.transfers,
          .runs = grid.groups * (scatter.most_runs() + gather.most_runs()) + grid.members * reduce.most_runs(),
          .parts = whole_inside ? grid.members : 1,
          .carried = whole_inside && reduce.carried,
          .ranges = !whole_inside || reduce.ranges};
}

void TwoLevel::embed_inside(RunSchedule& whole, const Algorithm& scheme, int first_chunk, int first_round) const {
  const RunSchedule part = scheme.runs(inside());
  const int width = grid.members * part_chunks() / part.chunks;
  for (int group = 0; group < grid.groups; ++group)
    embed(whole, part,
          {.first_rank = grid.rank(group, 0),
           .rank_step = grid.member_step,
           .first_chunk = first_chunk,
           .width = width,
           .first_round = first_round});
}

void TwoLevel::embed_in(RunSchedule& whole, int first_chunk) const {
  embed_inside(whole, *inner->reduce_scatter, first_chunk, 0);
  const int scattered = inner->reduce_scatter->shape(inside()).rounds;
  const RunSchedule part = outer->runs(across());
  for (int member = 0; member < grid.members; ++member)
    embed(whole, part,
          {.first_rank = grid.rank(0, member),
           .rank_step = grid.group_step,
           .first_chunk = first_chunk + member * part_chunks(),
           .width = part_chunks() / part.chunks,
           .first_round = scattered});
  embed_inside(whole, *inner->all_gather, first_chunk, scattered + part.rounds);
}

Traffic TwoLevel::traffic(const Cut& cut, int group, int member) const {
  const auto within = [&](const Algorithm& scheme) {
    const int chunks = scheme.shape(inside()).chunks;
    return scheme.traffic(inside(), cut.part(0, chunks, cut.chunks() / chunks), member);
  };
  const int chunks = outer->shape(across()).chunks;
  const Cut part = cut.part(member * part_chunks(), chunks, part_chunks() / chunks);
  return within(*inner->reduce_scatter) + outer->traffic(across(), part, group) + within(*inner->all_gather);
}

}  // namespace hbench
