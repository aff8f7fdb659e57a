#include "collectives/schedule/rank_groups.hpp"

namespace hbench {

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

}  // namespace hbench
