#include "collectives/algorithms/two_level.hpp"

#include <numeric>
#include <vector>

#include "collectives/algorithms/compose.hpp"

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
  return {grid.members * part_chunks(), scatter.rounds + reduce.rounds + gather.rounds,
          grid.groups * (scatter.transfers + gather.transfers) + grid.members * reduce.transfers};
}

void TwoLevel::embed_inside(Schedule& whole, const Algorithm& scheme, int first_chunk, int first_round) const {
  const Schedule part = scheme.build(inside());
  const int width = grid.members * part_chunks() / part.chunks;
  for (int group = 0; group < grid.groups; ++group) {
    std::vector<Rank> ranks;
    for (int member = 0; member < grid.members; ++member) ranks.push_back(grid.rank(group, member));
    embed(whole, part, {.ranks = ranks, .first_chunk = first_chunk, .width = width, .first_round = first_round});
  }
}

void TwoLevel::embed_in(Schedule& whole, int first_chunk) const {
  embed_inside(whole, *inner->reduce_scatter, first_chunk, 0);
  const int scattered = inner->reduce_scatter->shape(inside()).rounds;
  const Schedule part = outer->build(across());
  for (int member = 0; member < grid.members; ++member) {
    std::vector<Rank> ranks;
    for (int group = 0; group < grid.groups; ++group) ranks.push_back(grid.rank(group, member));
    embed(whole, part,
          {.ranks = ranks,
           .first_chunk = first_chunk + member * part_chunks(),
           .width = part_chunks() / part.chunks,
           .first_round = scattered});
  }
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
