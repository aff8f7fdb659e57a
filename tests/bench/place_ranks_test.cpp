#include "bench/launch/allocation.hpp"

#include "tests/support/matchers.hpp"

namespace hbench::place_ranks_test {
namespace {

TEST(RankPlaces, AreBlocksOfEqualSize) {
  const Allocation hosts = parse_host_list("a:4,b:4,c:4");
  EXPECT_THAT(place_ranks(hosts, {.workers = 4, .nodes = 2}).host_of_rank, ElementsAre("a", "a", "b", "b"));
  EXPECT_THAT(place_ranks(hosts, {.workers = 3, .nodes = 3}).host_of_rank, ElementsAre("a", "b", "c"));
  EXPECT_THAT(place_ranks(hosts, {.workers = 1, .nodes = 1}).host_of_rank, ElementsAre("a"));
}

TEST(RankPlaces, OfServersAreOnTheHostsOfTheWorkersInTurn) {
  const Allocation hosts = parse_host_list("a:3,b:2");
  EXPECT_THAT(place_ranks(hosts, {.workers = 2, .nodes = 2, .servers = 3}).host_of_rank,
              ElementsAre("a", "b", "a", "b", "a"));
  EXPECT_EQ(place_ranks(parse_host_list("a:2,b:2"), {.workers = 2, .nodes = 2, .servers = 3}).refusal,
            "2 hosts with 3 slots each are needed, of -H a:2,b:2");
}

TEST(RankPlaces, PassByHostsThatAreTooSmall) {
  const Allocation hosts = parse_host_list("a:1,b:4,c:2,d:4");
  EXPECT_THAT(place_ranks(hosts, {.workers = 4, .nodes = 2}).host_of_rank, ElementsAre("b", "b", "c", "c"));
  EXPECT_THAT(place_ranks(hosts, {.workers = 6, .nodes = 2}).host_of_rank, ElementsAre("b", "b", "b", "d", "d", "d"));
}

TEST(RankPlaces, AreRefusedWhereRanksAreNotEquallyManyOrSlotsAreTooFew) {
  const Allocation hosts = parse_host_list("a:4,b:4");
  EXPECT_EQ(place_ranks(hosts, {.workers = 4, .nodes = 3}).refusal, "4 ranks are not equally many on 3 nodes");
  EXPECT_EQ(place_ranks(hosts, {.workers = 5, .nodes = 1}).refusal,
            "1 host with 5 slots each are needed, of -H a:4,b:4");
  EXPECT_EQ(place_ranks(hosts, {.workers = 3, .nodes = 3}).refusal,
            "3 hosts with 1 slot each are needed, of -H a:4,b:4");
}

TEST(RankPlaces, OfThisMachineHaveNoNames) {
  const RankPlaces here = place_ranks({}, {.workers = 64, .nodes = 1, .servers = 3});
  EXPECT_THAT(here.host_of_rank, IsEmpty());
  EXPECT_EQ(here.refusal, "");
  EXPECT_EQ(place_ranks({}, {.workers = 4, .nodes = 2}).refusal,
            "this is one machine; name hosts with -H or --hostfile");
}

TEST(FewestNodes, HoldTheRanksEquallyMany) {
  const Allocation hosts = parse_host_list("a:4,b:4,c:4");
  for (const auto& [workers, nodes] : {std::pair{1, 1}, {4, 1}, {5, 0}, {6, 2}, {8, 2}, {9, 3}, {12, 3}, {16, 0}})
    EXPECT_EQ(fewest_nodes(hosts, workers), nodes) << workers;
}

}  // namespace
}  // namespace hbench::place_ranks_test
