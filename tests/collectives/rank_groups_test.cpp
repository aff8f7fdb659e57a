#include "collectives/schedule/schedule.hpp"

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/network/collective_model.hpp"
#include "collectives/schedule/checker.hpp"
#include "tests/collectives/clusters.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::rank_groups_test {
namespace {

TEST(RankGroups, ShareOutAllRanks) {
  EXPECT_THAT(RankGroups{}.members(3), ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_THAT((RankGroups{.size = 2}.members(6)), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5)));
  EXPECT_THAT((RankGroups{.stride = 2}.members(6)), ElementsAre(ElementsAre(0, 2, 4), ElementsAre(1, 3, 5)));
  EXPECT_THAT((RankGroups{.size = 2, .stride = 2}.members(8)),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4, 6), ElementsAre(5, 7)));
}

TEST(RankGroups, KnowThePlaceOfEachRank) {
  for (const RankGroups& groups : {RankGroups{}, RankGroups{.size = 4}, RankGroups{.stride = 4},
                                   RankGroups{.size = 3, .stride = 2}, RankGroups{.size = 1}})
    for (const std::vector<Rank>& group : groups.members(12 * groups.unit()))
      for (std::size_t place = 0; place < group.size(); ++place)
        EXPECT_EQ(groups.place(group[place], 12 * groups.unit()), static_cast<int>(place));
}

/// The transfers of one group, as if it were alone.
Schedule alone(const Schedule& whole, const std::vector<Rank>& group) {
  Schedule part = whole;
  part.world = {.workers = static_cast<int>(group.size())};
  part.transfers.clear();
  for (Transfer transfer : whole.transfers) {
    const auto src = std::ranges::find(group, transfer.src), dst = std::ranges::find(group, transfer.dst);
    EXPECT_EQ(src == group.end(), dst == group.end()) << "a transfer between groups";
    if (src == group.end()) continue;
    transfer.src = static_cast<Rank>(src - group.begin());
    transfer.dst = static_cast<Rank>(dst - group.begin());
    part.transfers.push_back(transfer);
  }
  return part;
}

TEST(RankGroups, DoTheCollectiveInEachGroup) {
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather})
    for (const char* name : {"ring", "recursive-doubling", "halving-doubling"}) {
      const auto algorithm = part_of(parse_algorithm(name), kind);
      if (!algorithm) continue;
      for (const RankGroups& groups :
           {RankGroups{.size = 4}, RankGroups{.stride = 3}, RankGroups{.size = 4, .stride = 3}}) {
        const Schedule whole =
            to_transfers(in_groups(algorithm->runs({.workers = groups.size_among(24)}, 1), 24, groups));
        for (const std::vector<Rank>& group : groups.members(24))
          EXPECT_FALSE(check(alone(whole, group))) << name << ", " << to_string(kind);
      }
    }
}

constexpr std::int64_t kElements = 1'000'000;

// Groups of nodes: each is alone in its node.
TEST(RankGroups, ThatLieWithinNodesTakeNoLongerThanOneOfThem) {
  Profile cluster = support::round_cluster();
  cluster.gpus_per_node = 8;
  const AlgorithmChoice ring = parse_algorithm("ring");
  for (const int size : {2, 4, 8})
    EXPECT_EQ(CollectiveModel(cluster, {.workers = 64}, {}, {.size = size}).answer(ring, {}, kElements).time,
              CollectiveModel(cluster, {.workers = size}).answer(ring, {}, kElements).time);
}

// Eight rings between nodes share the NIC of each: together they take as long as one ring with all that they carry.
TEST(RankGroups, BetweenNodesShareTheirNics) {
  Profile cluster = support::round_cluster();
  cluster.gpus_per_node = 8;
  cluster.network_latency = Seconds(0);
  const AlgorithmChoice ring = parse_algorithm("ring");
  Profile single = cluster;
  single.gpus_per_node = 1;
  const Seconds together =
      CollectiveModel(cluster, {.workers = 32}, {}, {.stride = 8}).answer(ring, {}, kElements).time;
  const Seconds one = CollectiveModel(single, {.workers = 4}).answer(ring, {}, 8 * kElements).time;
  EXPECT_NEAR(together / one, 1, 1e-6);
}

}  // namespace
}  // namespace hbench::rank_groups_test
