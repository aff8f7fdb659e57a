#include "collectives/algorithms/compose.hpp"

#include <stdexcept>

#include "collectives/schedule/checker.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::compose_test {
namespace {

constexpr auto kReduce = TransferKind::reduce;
constexpr auto kCopy = TransferKind::copy;

/// 0 to 1, then 1 to 2, everything.
Schedule chain_of_three() {
  Schedule schedule = empty_schedule({.workers = 3}, CollectiveKind::broadcast, 1);
  schedule.rounds = 2;
  schedule.transfers = {{0, 0, 1, 0, 1, kCopy}, {1, 1, 2, 0, 1, kCopy}};
  return schedule;
}

TEST(Embed, NamesRanksChunksAndRoundsAnew) {
  Schedule whole = empty_schedule({.workers = 9}, CollectiveKind::broadcast, 8);
  const std::vector<Rank> ranks{4, 8, 2};
  embed(whole, chain_of_three(), {.ranks = ranks, .first_chunk = 5, .width = 3, .first_round = 10, .interval = 2});
  EXPECT_THAT(whole.transfers, ElementsAre(Transfer{10, 4, 8, 5, 3, kCopy}, Transfer{12, 8, 2, 5, 3, kCopy}));
  EXPECT_EQ(whole.rounds, 13);
}

TEST(Embed, KeepsTransfersOfSeveralChunksInOnePieceOrRefuses) {
  Schedule part = chain_of_three();
  part.chunks = 4;
  part.transfers = {{0, 0, 1, 1, 3, kCopy}};
  Schedule whole = empty_schedule({.workers = 3}, CollectiveKind::broadcast, 8);
  embed(whole, part, {.width = 2});
  EXPECT_THAT(whole.transfers, ElementsAre(Transfer{0, 0, 1, 2, 6, kCopy}));
  EXPECT_THROW(embed(whole, part, {.stride = 2}), std::logic_error);
}

TEST(Embed, OfAScheduleWithoutRoundsChangesNothing) {
  Schedule whole = empty_schedule({.workers = 3}, CollectiveKind::broadcast, 8);
  embed(whole, empty_schedule({.workers = 1}, CollectiveKind::broadcast, 1), {.first_round = 7});
  EXPECT_EQ(whole.rounds, 0);
}

TEST(OrderByRound, KeepsTheOrderWithinRounds) {
  Schedule schedule = chain_of_three();
  schedule.transfers = {{1, 0, 1, 0, 1, kCopy}, {0, 2, 1, 0, 1, kCopy}, {1, 1, 0, 0, 1, kCopy}, {0, 0, 2, 0, 1, kCopy}};
  order_by_round(schedule);
  EXPECT_THAT(schedule.transfers, ElementsAre(Transfer{0, 2, 1, 0, 1, kCopy}, Transfer{0, 0, 2, 0, 1, kCopy},
                                              Transfer{1, 0, 1, 0, 1, kCopy}, Transfer{1, 1, 0, 0, 1, kCopy}));
}

TEST(Reversed, TurnsABroadcastIntoTheFirstHalfOfAnAllReduce) {
  const Schedule up = reversed(chain_of_three(), CollectiveKind::all_reduce);
  EXPECT_THAT(up.transfers, ElementsAre(Transfer{0, 2, 1, 0, 1, kReduce}, Transfer{1, 1, 0, 0, 1, kReduce}));
  EXPECT_FALSE(check(sequence(up, chain_of_three(), CollectiveKind::all_reduce)).has_value());
}

TEST(Sequence, RefusesSchedulesThatCutDifferently) {
  Schedule other = chain_of_three();
  other.chunks = 2;
  EXPECT_THROW(sequence(chain_of_three(), other, CollectiveKind::broadcast), std::logic_error);
}

TEST(Pipelined, SendsSegmentsOneRoundApart) {
  const Schedule schedule = pipelined(chain_of_three(), 2, 1);
  EXPECT_EQ(schedule.chunks, 2);
  EXPECT_EQ(schedule.rounds, 3);
  EXPECT_THAT(schedule.transfers, ElementsAre(Transfer{0, 0, 1, 0, 1, kCopy}, Transfer{1, 1, 2, 0, 1, kCopy},
                                              Transfer{1, 0, 1, 1, 1, kCopy}, Transfer{2, 1, 2, 1, 1, kCopy}));
  EXPECT_FALSE(check(schedule).has_value());
}

}  // namespace
}  // namespace hbench::compose_test
