/// Each algorithm's own properties: small schedules in full, and the costs of the literature.

#include <algorithm>
#include <map>
#include <set>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/error.hpp"
#include "collectives/schedule/checker.hpp"
#include "tests/collectives/counted_cost.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::schemes_test {
namespace {

const Algorithm& entry(std::string_view name, CollectiveKind collective = CollectiveKind::all_reduce) {
  return *parse_algorithm(name, collective).algorithm;
}
const Algorithm& ps() { return entry("ps"); }
const Algorithm& ring() { return entry("ring"); }

TEST(Ring, OfThreeIsThisSchedule) {
  const auto reduce = TransferKind::reduce;
  const auto copy = TransferKind::copy;
  const Schedule schedule = ring().build({.world = {.workers = 3}});
  EXPECT_EQ(schedule.chunks, 3);
  EXPECT_EQ(schedule.rounds, 4);
  EXPECT_THAT(schedule.offsets, IsEmpty());
  EXPECT_THAT(
      schedule.transfers,
      ElementsAre(Transfer{0, 0, 1, 2, 1, reduce}, Transfer{0, 1, 2, 0, 1, reduce}, Transfer{0, 2, 0, 1, 1, reduce},
                  Transfer{1, 0, 1, 1, 1, reduce}, Transfer{1, 1, 2, 2, 1, reduce}, Transfer{1, 2, 0, 0, 1, reduce},
                  Transfer{2, 0, 1, 0, 1, copy}, Transfer{2, 1, 2, 1, 1, copy}, Transfer{2, 2, 0, 2, 1, copy},
                  Transfer{3, 0, 1, 2, 1, copy}, Transfer{3, 1, 2, 0, 1, copy}, Transfer{3, 2, 0, 1, 1, copy}));
}

TEST(Ring, OfOneMovesNothing) {
  const Schedule schedule = ring().build({.world = {.workers = 1}});
  EXPECT_EQ(schedule.chunks, 1);
  EXPECT_EQ(schedule.rounds, 0);
  EXPECT_THAT(schedule.transfers, IsEmpty());
}

TEST(Ring, SendsTwiceTheBufferLessTwoChunks) {
  // 2 (P-1)/P n, Patarasuk and Yuan
  EXPECT_EQ(ring().cost({.world = {.workers = 4}}, 1000), (Cost{6, 1500, 1500}));
  EXPECT_EQ(ring().cost({.world = {.workers = 64}}, 6400), (Cost{126, 12600, 12600}));
}

TEST(ParameterServer, BusiestRankIsAServerThatTalksToEveryWorker) {
  EXPECT_EQ(ps().cost({.world = {.workers = 8, .servers = 2}}, 1000), (Cost{2, 4000, 4000}));
  // as many servers as workers: a worker's link limits it
  EXPECT_EQ(ps().cost({.world = {.workers = 8, .servers = 8}}, 800), (Cost{2, 800, 800}));
  // co-located, one per worker: as much as the ring
  EXPECT_EQ(ps().cost({.world = {.workers = 8, .servers = 8, .colocated = true}}, 800).sent,
            ring().cost({.world = {.workers = 8}}, 800).sent);
}

TEST(ParameterServer, MergesNeighbouringShardsOfOneServerAndSkipsEmptyOnes) {
  const std::vector<Shard> shards{{1, 5}, {1, 7}, {0, 0}, {1, 2}, {0, 3}, {2, 4}};
  const Schedule schedule = ps().build({.world = {.workers = 1, .servers = 3}, .shards = shards});
  EXPECT_EQ(schedule.chunks, 3);
  EXPECT_THAT(schedule.offsets, ElementsAre(0, 14, 17, 21));
  EXPECT_THAT(schedule.transfers,
              ElementsAre(Transfer{0, 0, 2, 0, 1, TransferKind::reduce}, Transfer{0, 0, 1, 1, 1, TransferKind::reduce},
                          Transfer{0, 0, 3, 2, 1, TransferKind::reduce}, Transfer{1, 2, 0, 0, 1, TransferKind::copy},
                          Transfer{1, 1, 0, 1, 1, TransferKind::copy}, Transfer{1, 3, 0, 2, 1, TransferKind::copy}));
}

TEST(ParameterServer, OfOneWorkerThatServesItselfMovesNothing) {
  const Schedule schedule = ps().build({.world = {.workers = 1, .servers = 3, .colocated = true}});
  EXPECT_EQ(schedule.rounds, 0);
  EXPECT_THAT(schedule.transfers, IsEmpty());
}

TEST(ParameterServer, StartsEveryWorkerAtAnotherServer) {
  const Schedule schedule = ps().build({.world = {.workers = 3, .servers = 3}});
  std::set<Rank> first_servers;
  for (int worker = 0; worker < 3; ++worker)
    first_servers.insert(schedule.transfers[static_cast<std::size_t>(worker)].dst);
  EXPECT_THAT(first_servers, ElementsAre(3, 4, 5));
}

TEST(ParameterServer, BufferWithoutElementsStillHasASchedule) {
  const std::vector<Shard> shards{{0, 0}, {1, 0}};
  const Schedule schedule = ps().build({.world = {.workers = 2, .servers = 2}, .shards = shards});
  EXPECT_FALSE(check(schedule).has_value());
  EXPECT_EQ(support::count_cost(schedule, 0), (Cost{2, 0, 0}));
}

/// Elements that cross between groups, out of the busiest group.
std::int64_t busiest_group_sends(const Schedule& schedule, std::int64_t elements) {
  std::vector<std::int64_t> sent(static_cast<std::size_t>(schedule.world.workers));
  const int group = schedule.world.group;
  for (const Transfer& transfer : schedule.transfers)
    if (transfer.src / group != transfer.dst / group)
      sent[static_cast<std::size_t>(transfer.src / group)] += schedule.range(transfer.first_chunk, 1, elements).size();
  return *std::max_element(sent.begin(), sent.end());
}

TEST(ParameterServer, SendsOneCopyPerNodeWhereANodeAddsUpFirst) {
  // 4 nodes of 4 workers and a co-located server, S = 16000: each node pushes the 3/4 S of the other servers and
  // sends its own S/4 to the 3 other nodes: 1.5 S. Without groups 4 workers push and pull for themselves: 6 S.
  EXPECT_EQ(busiest_group_sends(ps().build({.world = {16, 4, true, 4}}), 16000), 24000);
  Schedule flat = ps().build({.world = {16, 4, true, 1}});
  flat.world.group = 4;  // count by node
  EXPECT_EQ(busiest_group_sends(flat, 16000), 96000);
}

TEST(SegmentedRing, OfOneSegmentIsTheRing) {
  for (const CollectiveKind collective :
       {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather})
    for (const int workers : {1, 2, 5})
      EXPECT_EQ(entry("ring-segmented", collective).build({.world = {.workers = workers}}).transfers,
                entry("ring", collective).build({.world = {.workers = workers}}).transfers);
}

TEST(SegmentedRing, SendsWhatCameAsManyRoundsAgoAsThereAreSegments) {
  constexpr int kSegments = 4;
  const Schedule schedule = entry("ring-segmented").build({.world = {.workers = 5}, .segments = kSegments});
  std::map<std::pair<Rank, int>, int> arrived;
  for (const Transfer& transfer : schedule.transfers) {
    const auto came = arrived.find({transfer.src, transfer.first_chunk});
    if (came != arrived.end()) {
      EXPECT_EQ(transfer.round - came->second, kSegments);
    }
    arrived[{transfer.dst, transfer.first_chunk}] = transfer.round;
  }
}

TEST(RecursiveDoubling, SendsEverythingEveryRound) {
  // lg P messages of n; with extra ranks a core rank sends one more, back to its neighbour (Thakur et al. 2005)
  EXPECT_EQ(entry("recursive-doubling").cost({.world = {.workers = 8}}, 1000), (Cost{3, 3000, 3000}));
  EXPECT_EQ(entry("recursive-doubling").cost({.world = {.workers = 9}}, 1000), (Cost{5, 4000, 4000}));
}

TEST(HalvingDoubling, IsBandwidthOptimalForPowersOfTwo) {
  // 2 (P-1)/P n in 2 lg P rounds; otherwise 2n more, by the largest power of two below P (Thakur et al. 2005)
  EXPECT_EQ(entry("halving-doubling").cost({.world = {.workers = 8}}, 800), (Cost{6, 1400, 1400}));
  EXPECT_EQ(entry("halving-doubling").cost({.world = {.workers = 11}}, 800), (Cost{8, 2200, 2200}));
}

TEST(HalvingDoubling, SendsTheLargestMessagesToTheNearest) {
  const Schedule schedule = entry("halving-doubling").build({.world = {.workers = 16}});
  for (const Transfer& transfer : schedule.transfers)
    EXPECT_EQ(std::abs(transfer.src - transfer.dst) * transfer.chunk_count, 8);
}

TEST(BinomialTree, RootSendsToOneChildPerRound) {
  EXPECT_EQ(entry("binomial-tree").cost({.world = {.workers = 8}}, 100), (Cost{6, 300, 300}));
  EXPECT_EQ(entry("binomial-tree").cost({.world = {.workers = 9}}, 100), (Cost{8, 400, 400}));
  EXPECT_EQ(entry("binomial", CollectiveKind::broadcast).cost({.world = {.workers = 6}}, 100), (Cost{3, 300, 100}));
}

TEST(DoubleBinaryTree, HasNoRankWithinBothTrees) {
  for (int workers = 2; workers <= 70; ++workers) {
    const Schedule schedule =
        entry("double-binary-tree", CollectiveKind::broadcast).build({.world = {.workers = workers}});
    std::set<Rank> inner[2];
    for (const Transfer& transfer : schedule.transfers)
      if (transfer.src != 0) inner[transfer.first_chunk].insert(transfer.src);
    std::vector<Rank> both;
    std::ranges::set_intersection(inner[0], inner[1], std::back_inserter(both));
    EXPECT_THAT(both, IsEmpty()) << workers;
  }
}

TEST(DoubleBinaryTree, SendsNoMoreThanTwiceTheBuffer) {
  // height(P-1) = 4 levels up and down for 8 nodes, and a round for every further segment
  EXPECT_EQ(entry("double-binary-tree").cost({.world = {.workers = 9}, .segments = 10}, 1000), (Cost{17, 2000, 2000}));
  for (int workers = 4; workers <= 70; ++workers)
    EXPECT_LE(entry("double-binary-tree").cost({.world = {.workers = workers}, .segments = 3}, 6000).sent, 12000);
}

TEST(Chain, TakesARoundForEveryLinkAndEveryFurtherSegment) {
  EXPECT_EQ(entry("chain", CollectiveKind::broadcast).cost({.world = {.workers = 5}, .segments = 10}, 100),
            (Cost{13, 100, 100}));
}

TEST(Hierarchical, SendsBetweenNodesWhatALoneRankOfEachWould) {
  // direct inside 8: 2 x 7/8 S; a ring of 4 across with S/8: 2 x 3/4 x S/8
  const ScheduleRequest request{.world = {.workers = 32, .group = 8}, .parameters = "direct:ring"};
  EXPECT_EQ(entry("hierarchical").cost(request, 6400), (Cost{1 + 6 + 1, 2 * 5600 + 1200, 2 * 5600 + 1200}));
  const Schedule schedule = entry("hierarchical").build(request);
  std::int64_t across = 0;
  for (const Transfer& transfer : schedule.transfers)
    if (transfer.src / 8 == 0 && transfer.dst / 8 != 0)
      across += schedule.range(transfer.first_chunk, transfer.chunk_count, 6400).size();
  EXPECT_EQ(across, 2 * 6400 * 3 / 4);
}

TEST(Hierarchical, RefusesParametersThatMakeNoSense) {
  expect_usage_error(
      [] { parse_algorithm("hierarchical:binomial-tree"); },
      "hierarchical:binomial-tree:ring: 'binomial-tree' is not made of a reduce-scatter and an all-gather",
      "choose direct, ring, ring-segmented or halving-doubling");
  expect_usage_error([] { parse_algorithm("hierarchical:ring:ps"); },
                     "hierarchical:ring:ps: 'ps' cannot run between nodes", "such as ring or halving-doubling");
  expect_usage_error([] { parse_algorithm("hierarchical:ring:vendor"); },
                     "hierarchical:ring:vendor: 'vendor' cannot run between nodes", "workers only");
  expect_usage_error([] { parse_algorithm("hierarchical:rng"); }, "no algorithm 'rng'; did you mean 'ring'?", "known");
  EXPECT_EQ(parse_algorithm("hierarchical:ring").text(), "hierarchical:ring:ring");
}

TEST(Torus, IsBandwidthOptimalInRoundsOfBothDimensions) {
  // 4 x 4: 2 (3 + 3) rounds; 3 x 5: 2 (2 + 4); a prime is one ring
  EXPECT_EQ(entry("torus").cost({.world = {.workers = 16}}, 3200), (Cost{12, 6000, 6000}));
  EXPECT_EQ(entry("torus").cost({.world = {.workers = 15}}, 3000), (Cost{12, 5600, 5600}));
  EXPECT_EQ(entry("torus").cost({.world = {.workers = 13}}, 2600), (Cost{24, 4800, 4800}));
}

TEST(Torus, KeepsBothDimensionsBusyInEveryRound) {
  const Schedule schedule = entry("torus").build({.world = {.workers = 16}});
  std::set<std::pair<int, bool>> busy;
  for (const Transfer& transfer : schedule.transfers)
    busy.insert({transfer.round, transfer.src / 4 == transfer.dst / 4});
  EXPECT_EQ(std::ssize(busy), 2 * schedule.rounds);
}

TEST(Direct, SendsEveryRankSomethingInEveryRoundAndNobodyTwoAtATime) {
  const Schedule schedule = entry("direct", CollectiveKind::all_gather).build({.world = {.workers = 7}});
  // Each step of the order is a permutation.
  for (std::size_t step = 0; step < 6; ++step) {
    std::set<Rank> reached;
    for (std::size_t i = 0; i < 7; ++i) reached.insert(schedule.transfers[7 * step + i].dst);
    EXPECT_EQ(reached.size(), 7U);
  }
  EXPECT_EQ(entry("direct").cost({.world = {.workers = 8}}, 800), (Cost{2, 1400, 1400}));
}

}  // namespace
}  // namespace hbench::schemes_test
