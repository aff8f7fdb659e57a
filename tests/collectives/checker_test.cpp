#include "collectives/schedule/checker.hpp"
#include "tests/collectives/counted_cost.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::checker_test {
namespace {

constexpr auto kReduce = TransferKind::reduce;
constexpr auto kCopy = TransferKind::copy;

/// Worker 1 adds to worker 0 and gets the sum back: the smallest all-reduce.
Schedule there_and_back() {
  return {.world = {.workers = 2},
          .chunks = 1,
          .rounds = 2,
          .transfers = {{0, 1, 0, 0, 1, kReduce}, {1, 0, 1, 0, 1, kCopy}},
          .offsets = {}};
}

void expect_fault(const Schedule& schedule, std::optional<std::size_t> transfer, const char* what) {
  const auto fault = check(schedule);
  ASSERT_TRUE(fault.has_value()) << "expected: " << what;
  EXPECT_EQ(fault->transfer, transfer) << fault->what;
  EXPECT_THAT(fault->what, HasSubstr(what));
}

TEST(Checker, ProvesTheSmallestAllReduce) { EXPECT_FALSE(check(there_and_back()).has_value()); }

TEST(Checker, ReadsTheStateBeforeTheRound) {
  // Both exchange at once: each must send its own contribution, not the sum that is just being made.
  Schedule exchange = there_and_back();
  exchange.rounds = 1;
  exchange.transfers = {{0, 1, 0, 0, 1, kReduce}, {0, 0, 1, 0, 1, kReduce}};
  EXPECT_FALSE(check(exchange).has_value());
  // And this one reads in the round in which the sum is made, one round too early.
  exchange.transfers = {{0, 1, 0, 0, 1, kReduce}, {0, 0, 1, 0, 1, kCopy}};
  expect_fault(exchange, std::nullopt, "worker 1 ends without worker 1's contribution to chunk 0");
}

TEST(Checker, DedicatedServersBeginEmpty) {
  Schedule schedule = there_and_back();
  schedule.world = {.workers = 1, .servers = 1};
  schedule.transfers = {{0, 0, 1, 0, 1, kReduce}, {1, 1, 0, 0, 1, kCopy}};
  EXPECT_FALSE(check(schedule).has_value());
  schedule.transfers.erase(schedule.transfers.begin());
  expect_fault(schedule, std::nullopt, "worker 0 ends without worker 0's contribution");
}

TEST(Checker, NamesTheWorkerBeyondTheFirstWord) {
  Schedule schedule = there_and_back();
  schedule.world.workers = 66;
  schedule.transfers.clear();
  for (int worker = 1; worker < 65; ++worker) schedule.transfers.push_back({0, worker, 0, 0, 1, kReduce});
  for (int worker = 1; worker < 66; ++worker) schedule.transfers.push_back({1, 0, worker, 0, 1, kCopy});
  expect_fault(schedule, std::nullopt, "worker 0 ends without worker 65's contribution to chunk 0");
}

TEST(Checker, RefusesAContributionAddedTwice) {
  Schedule schedule = there_and_back();
  schedule.rounds = 3;
  schedule.transfers = {{0, 1, 0, 0, 1, kReduce}, {1, 1, 0, 0, 1, kReduce}, {2, 0, 1, 0, 1, kCopy}};
  expect_fault(schedule, 1, "round 1, rank 1 to rank 0, chunk 0: adds worker 1's contribution a second time");
}

TEST(Checker, RefusesARankThatAddsToItself) {
  Schedule schedule = there_and_back();
  schedule.transfers.insert(schedule.transfers.begin(), {0, 0, 0, 0, 1, kReduce});
  expect_fault(schedule, 0, "adds worker 0's contribution a second time");
}

TEST(Checker, RefusesACopyBesideAnotherWriteInOneRound) {
  Schedule schedule = there_and_back();
  schedule.transfers.push_back({1, 0, 1, 0, 1, kCopy});
  expect_fault(schedule, 2, "written twice in this round");
  schedule.transfers[1].kind = kReduce;
  schedule.transfers[1].src = 1;
  schedule.transfers[1].dst = 1;
  expect_fault(schedule, 1, "a second time");
}

TEST(Checker, AcceptsDisjointReducesIntoOneChunk) {
  Schedule schedule = there_and_back();
  schedule.world.workers = 3;
  schedule.transfers = {
      {0, 1, 0, 0, 1, kReduce}, {0, 2, 0, 0, 1, kReduce}, {1, 0, 1, 0, 1, kCopy}, {1, 0, 2, 0, 1, kCopy}};
  EXPECT_FALSE(check(schedule).has_value());
}

TEST(Checker, FollowsEveryChunkOfATransferOfSeveral) {
  Schedule schedule = there_and_back();
  schedule.chunks = 3;
  for (Transfer& transfer : schedule.transfers) transfer.chunk_count = 3;
  EXPECT_FALSE(check(schedule).has_value());
  schedule.transfers[1].chunk_count = 2;
  expect_fault(schedule, std::nullopt, "worker 1 ends without worker 0's contribution to chunk 2");
}

TEST(Checker, RefusesWhatIsOutOfRange) {
  const auto with = [](auto change) {
    Schedule schedule = there_and_back();
    change(schedule.transfers[1]);
    return schedule;
  };
  expect_fault(with([](Transfer& t) { t.round = 2; }), 1, "round 2 of a schedule with 2 rounds");
  expect_fault(with([](Transfer& t) { t.round = -1; }), 1, "round -1");
  expect_fault(with([](Transfer& t) { t.src = 2; }), 1, "rank 2 in a world of 2 ranks");
  expect_fault(with([](Transfer& t) { t.dst = -1; }), 1, "rank -1");
  expect_fault(with([](Transfer& t) { t.first_chunk = 1; }), 1, "chunks 1 to 1 of 1");
  expect_fault(with([](Transfer& t) { t.first_chunk = -1; }), 1, "chunks -1 to -1 of 1");
  expect_fault(with([](Transfer& t) { t.chunk_count = 0; }), 1, "of 1");
  expect_fault(with([](Transfer& t) { t.chunk_count = 2147483647; }), 1, "of 1");
}

TEST(Checker, RefusesRoundsOutOfOrder) {
  Schedule schedule = there_and_back();
  std::swap(schedule.transfers[0], schedule.transfers[1]);
  expect_fault(schedule, 1, "round 0 is listed after round 1");
}

TEST(Checker, RefusesAShapeThatMakesNoSense) {
  const auto with = [](auto change) {
    Schedule schedule = there_and_back();
    change(schedule);
    return schedule;
  };
  expect_fault(with([](Schedule& s) { s.world.workers = 0; }), std::nullopt, "no worker");
  expect_fault(with([](Schedule& s) { s.world.servers = -1; }), std::nullopt, "negative number of servers");
  expect_fault(with([](Schedule& s) { s.chunks = 0; }), std::nullopt, "no chunk");
  expect_fault(with([](Schedule& s) { s.offsets = {0, 1, 2}; }), std::nullopt, "3 offsets for 1 chunks, which need 2");
  expect_fault(with([](Schedule& s) { s.offsets = {1, 2}; }), std::nullopt, "begins at element 1");
  expect_fault(with([](Schedule& s) { s.offsets = {0, -1}; }), std::nullopt, "do not ascend");
}

/// Two workers exchange their parts: the smallest of each collective with parts.
Schedule exchange(CollectiveKind collective) {
  const bool gathers = collective == CollectiveKind::all_gather;
  const TransferKind kind = gathers ? kCopy : kReduce;
  return {.world = {.workers = 2},
          .collective = collective,
          .chunks = 2,
          .rounds = 1,
          .transfers = {{0, 0, 1, gathers ? 0 : 1, 1, kind}, {0, 1, 0, gathers ? 1 : 0, 1, kind}},
          .offsets = {}};
}

TEST(Checker, ProvesTheSmallestOfEveryGoal) {
  EXPECT_FALSE(check(exchange(CollectiveKind::reduce_scatter)).has_value());
  EXPECT_FALSE(check(exchange(CollectiveKind::all_gather)).has_value());
  Schedule broadcast = there_and_back();
  broadcast.collective = CollectiveKind::broadcast;
  broadcast.transfers = {{0, 0, 1, 0, 1, kCopy}};
  EXPECT_FALSE(check(broadcast).has_value());
}

TEST(Checker, WantsOfAReduceScatterOnlyTheWorkersOwnPart) {
  Schedule schedule = exchange(CollectiveKind::reduce_scatter);
  schedule.collective = CollectiveKind::all_reduce;
  expect_fault(schedule, std::nullopt, "worker 0 ends without worker 1's contribution to chunk 1");
  schedule = exchange(CollectiveKind::reduce_scatter);
  schedule.transfers.pop_back();
  expect_fault(schedule, std::nullopt, "worker 0 ends without worker 1's contribution to chunk 0");
}

TEST(Checker, KnowsWhoBringsAPart) {
  // Four chunks for two workers: worker 1 brings the last two.
  Schedule schedule = exchange(CollectiveKind::all_gather);
  schedule.chunks = 4;
  schedule.transfers = {{0, 0, 1, 0, 2, kCopy}, {0, 1, 0, 2, 2, kCopy}};
  EXPECT_FALSE(check(schedule).has_value());
  schedule.transfers[1].chunk_count = 1;
  expect_fault(schedule, std::nullopt, "worker 0 ends without chunk 3, which worker 1 brought");
}

TEST(Checker, LetsGarbageTravelButNotStay) {
  // Rank 1 has nothing of rank 0's to send on in round 0; a round later it has.
  Schedule schedule{.world = {.workers = 3}, .collective = CollectiveKind::broadcast, .chunks = 1, .rounds = 2};
  schedule.transfers = {{0, 0, 1, 0, 1, kCopy}, {0, 1, 2, 0, 1, kCopy}};
  expect_fault(schedule, std::nullopt, "worker 2 ends without chunk 0, which worker 0 brought");
  schedule.transfers.push_back({1, 1, 2, 0, 1, kCopy});
  EXPECT_FALSE(check(schedule).has_value());
  // Garbage over data is seen as well.
  schedule.transfers = {{0, 0, 1, 0, 1, kCopy}, {0, 0, 2, 0, 1, kCopy}, {1, 1, 0, 0, 1, kCopy}};
  EXPECT_FALSE(check(schedule).has_value());
  schedule.transfers = {{0, 1, 0, 0, 1, kCopy}, {1, 0, 1, 0, 1, kCopy}, {1, 0, 2, 0, 1, kCopy}};
  expect_fault(schedule, std::nullopt, "worker 0 ends without chunk 0, which worker 0 brought");
}

TEST(Checker, RefusesGarbageInASum) {
  Schedule schedule = exchange(CollectiveKind::all_gather);
  schedule.transfers[0].kind = kReduce;
  expect_fault(schedule, 0, "round 0, rank 0 to rank 1, chunk 0: adds to what rank 1 never got");
  schedule.transfers[0] = {0, 0, 1, 1, 1, kReduce};
  expect_fault(schedule, 0, "round 0, rank 0 to rank 1, chunk 1: adds what rank 0 never got");
}

TEST(Checker, ANeutralServerMayAddUpABroadcast) {
  // Dedicated servers hold the neutral element, not garbage.
  Schedule schedule{
      .world = {.workers = 2, .servers = 1}, .collective = CollectiveKind::broadcast, .chunks = 1, .rounds = 2};
  schedule.transfers = {{0, 0, 2, 0, 1, kReduce}, {1, 2, 1, 0, 1, kCopy}};
  EXPECT_FALSE(check(schedule).has_value());
  schedule.transfers.insert(schedule.transfers.begin() + 1, schedule.transfers[0]);
  expect_fault(schedule, 1, "adds worker 0's contribution a second time");
}

TEST(Checker, RefusesPartsThatAreNotEqualRunsOfChunks) {
  Schedule schedule = exchange(CollectiveKind::all_gather);
  schedule.chunks = 3;
  expect_fault(schedule, std::nullopt, "3 chunks do not make one part for each of 2 workers");
  schedule.collective = CollectiveKind::reduce_scatter;
  expect_fault(schedule, std::nullopt, "3 chunks do not make one part for each of 2 workers");
}

TEST(Cost, CountsTheBusiestSenderAndReceiverApart) {
  Schedule schedule = there_and_back();
  schedule.world.workers = 3;
  schedule.offsets = {0, 10};
  schedule.transfers = {
      {0, 1, 0, 0, 1, kReduce}, {0, 2, 0, 0, 1, kReduce}, {0, 0, 0, 0, 1, kCopy}, {1, 0, 2, 0, 1, kCopy}};
  // rank 0 sends once and receives twice; what it sends to itself is free
  EXPECT_EQ(support::count_cost(schedule, 10), (Cost{2, 10, 20}));
}

}  // namespace
}  // namespace hbench::checker_test
