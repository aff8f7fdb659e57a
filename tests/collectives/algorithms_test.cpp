#include "collectives/algorithms/algorithm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "collectives/base/table.hpp"
#include "collectives/checker.hpp"
#include "collectives/cost.hpp"
#include "tests/collectives/instances.hpp"

namespace hbench {
namespace {

using ::hbench::testing::grouped_instances;
using ::hbench::testing::Instance;
using ::hbench::testing::instances;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kLargestWorld = 64;
constexpr int kLargestGroupedWorld = 24;

const Algorithm& ps() { return find_entry(algorithms(), "ps", "algorithm"); }
const Algorithm& ring() { return find_entry(algorithms(), "ring", "algorithm"); }

TEST(Algorithms, AreListedInTheDocumentedOrder) {
  EXPECT_THAT(names_of(algorithms()), ElementsAre("ring", "ps", "vendor"));
}

TEST(Algorithms, SaySomethingAboutThemselvesAndWhereTheyComeFrom) {
  for (const Algorithm* algorithm : algorithms()) {
    EXPECT_THAT(algorithm->summary, Not(IsEmpty())) << algorithm->name;
    EXPECT_THAT(algorithm->citation, Not(IsEmpty())) << algorithm->name;
    ASSERT_NE(algorithm->refuses, nullptr) << algorithm->name;
    EXPECT_EQ(algorithm->build == nullptr, algorithm->cost == nullptr) << algorithm->name;
  }
}

TEST(Algorithms, RefuseExactlyTheWorldsWithTheWrongRoles) {
  for (const Algorithm* algorithm : algorithms())
    for (const bool colocated : {false, true}) {
      const int needed = algorithm->uses_servers ? 2 : 0;
      const int wrong = algorithm->uses_servers ? 0 : 2;
      EXPECT_EQ(algorithm->refuses({3, needed, colocated}), "") << algorithm->name;
      EXPECT_NE(algorithm->refuses({3, wrong, colocated}), "") << algorithm->name;
      EXPECT_NE(algorithm->refuses({0, needed, colocated}), "") << algorithm->name;
    }
}

TEST(Algorithms, AreProvedForEveryWorldAndPlacement) {
  int proved = 0;
  for (const Algorithm* algorithm : algorithms())
    for (int workers = 1; workers <= kLargestWorld; ++workers)
      for (const Instance& instance : instances(*algorithm, workers)) {
        ASSERT_EQ(algorithm->refuses(instance.world), "") << instance.name;
        const auto fault = check(instance.schedule);
        ASSERT_FALSE(fault.has_value()) << instance.name << ": " << fault->what;
        ++proved;
      }
  // ring, and ps with 4 server counts x 2 modes x (even and 3 placements)
  EXPECT_EQ(proved, kLargestWorld * (1 + 4 * 2 * 4));
}

TEST(Algorithms, AreProvedWhereTheWorkersOfANodeAddUpFirst) {
  int proved = 0;
  for (const Algorithm* algorithm : algorithms())
    for (int workers = 1; workers <= kLargestGroupedWorld; ++workers)
      for (const Instance& instance : grouped_instances(*algorithm, workers)) {
        const auto fault = check(instance.schedule);
        ASSERT_FALSE(fault.has_value()) << instance.name << ": " << fault->what;
        ++proved;
      }
  // 4 group sizes x 3 server counts x 2 modes x (even and 3 placements)
  EXPECT_EQ(proved, kLargestGroupedWorld * 4 * 3 * 2 * 4);
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

TEST(Algorithms, DeclareTheCostThatIsCounted) {
  for (const Algorithm* algorithm : algorithms())
    for (int workers = 1; workers <= kLargestWorld; ++workers)
      for (const Instance& instance : instances(*algorithm, workers)) {
        if (!instance.shards.empty()) continue;
        const std::int64_t p = workers;
        const std::set<std::int64_t> counts{0, 1, 2, 3, 5, p - 1, p, p + 1, 2 * p - 1, 7919, 138'357'544};
        for (const std::int64_t elements : counts) {
          const Cost declared = algorithm->cost({.world = instance.world}, elements);
          const Cost counted = count_cost(instance.schedule, elements);
          ASSERT_EQ(declared.rounds, counted.rounds) << instance.name << ", " << elements << " elements";
          ASSERT_EQ(declared.sent, counted.sent) << instance.name << ", " << elements << " elements";
          ASSERT_EQ(declared.received, counted.received) << instance.name << ", " << elements << " elements";
        }
      }
}

TEST(Algorithms, NeverSendARankWhatIsItsOwn) {
  for (const Algorithm* algorithm : algorithms())
    for (const int workers : {1, 2, 3, 8})
      for (const Instance& instance : instances(*algorithm, workers))
        for (const Transfer& transfer : instance.schedule.transfers)
          ASSERT_NE(transfer.src, transfer.dst) << instance.name;
}

TEST(Ring, OfThreeIsThisSchedule) {
  const auto reduce = TransferKind::reduce;
  const auto copy = TransferKind::copy;
  const Schedule schedule = ring().build({.world = {.workers = 3}});
  EXPECT_EQ(schedule.chunks, 3);
  EXPECT_EQ(schedule.rounds, 4);
  EXPECT_THAT(schedule.offsets, IsEmpty());
  EXPECT_THAT(
      schedule.transfers,
      ElementsAre(Transfer{0, 0, 1, 0, 1, reduce}, Transfer{0, 1, 2, 1, 1, reduce}, Transfer{0, 2, 0, 2, 1, reduce},
                  Transfer{1, 0, 1, 2, 1, reduce}, Transfer{1, 1, 2, 0, 1, reduce}, Transfer{1, 2, 0, 1, 1, reduce},
                  Transfer{2, 0, 1, 1, 1, copy}, Transfer{2, 1, 2, 2, 1, copy}, Transfer{2, 2, 0, 0, 1, copy},
                  Transfer{3, 0, 1, 0, 1, copy}, Transfer{3, 1, 2, 1, 1, copy}, Transfer{3, 2, 0, 2, 1, copy}));
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
  EXPECT_EQ(count_cost(schedule, 0), (Cost{2, 0, 0}));
}

}  // namespace
}  // namespace hbench
