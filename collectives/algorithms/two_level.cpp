#include "collectives/algorithms/two_level.hpp"

#include <algorithm>
#include <numeric>

namespace hbench {

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
