#include "collectives/network/concurrent_collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "tests/collectives/clusters.hpp"

namespace hbench::concurrent_collectives_test {
namespace {

using namespace ::hbench::support;

/// Elements of a message of so many whole pieces of a MiB, and what one takes on the links of `round_cluster`.
constexpr std::int64_t pieces(int count) { return count * std::int64_t{1} << 18; }
constexpr double kPieceTime = (1 << 20) / 4e6;

/// One message from `src` to `dst`.
struct Sent {
  Rank src, dst;
  std::int64_t elements;
  double start = 0;
};

/// When each of `count` collectives is finished, by number.
std::vector<double> finish(ConcurrentCollectives& collectives, std::size_t count) {
  std::vector<double> finished(count);
  while (!collectives.idle()) {
    const double at = collectives.next_event().value;
    if (const auto number = collectives.advance()) finished[static_cast<std::size_t>(*number)] = at;
  }
  return finished;
}

/// When each of them is there: all in flight together on the same network.
std::vector<double> arrivals(const Profile& profile, int ranks, const std::vector<Sent>& messages) {
  Network network(profile, {.workers = ranks});
  ConcurrentCollectives collectives(network, kPlain);
  for (const auto& [src, dst, elements, start] : messages) {
    const Schedule schedule{
        .world = {.workers = ranks}, .rounds = 1, .transfers = {{.src = src, .dst = dst}}, .offsets = {}};
    collectives.begin(prepared(network, to_runs(schedule), elements), Seconds(start));
  }
  return finish(collectives, messages.size());
}

void expect_pieces(double time, double count) { EXPECT_NEAR(time / kPieceTime, count, 1e-9); }

const Profile kCluster = without_latency(round_cluster());

TEST(ConcurrentCollectives, ConnectionsHaveEvenPartsOfTheirSendersLink) {
  const auto there = arrivals(kCluster, 3, {{0, 1, pieces(8)}, {0, 2, pieces(8)}});
  expect_pieces(there[0], 15);
  expect_pieces(there[1], 16);
}

TEST(ConcurrentCollectives, ConnectionsHaveEvenPartsOfTheirReceiversLink) {
  const auto there = arrivals(kCluster, 4, {{1, 0, pieces(8)}, {2, 0, pieces(8)}, {3, 0, pieces(8)}});
  expect_pieces(there[0], 22);
  expect_pieces(there[1], 23);
  expect_pieces(there[2], 24);
}

TEST(ConcurrentCollectives, AConnectionCarriesItsMessagesInOrder) {
  const auto there = arrivals(kCluster, 2, {{0, 1, pieces(4)}, {0, 1, pieces(4)}, {0, 1, 1000}});
  expect_pieces(there[0], 4);
  expect_pieces(there[1], 8);
  expect_pieces(there[2], 8 + 1e-3 / kPieceTime);
}

TEST(ConcurrentCollectives, AShortMessageWaitsForAPieceAndNotForALongMessageOfAnotherConnection) {
  const auto there = arrivals(kCluster, 3, {{0, 1, pieces(8)}, {0, 2, pieces(1), kPieceTime / 2}});
  expect_pieces(there[1], 2);
  expect_pieces(there[0], 9);
}

// The first quarter of a piece finds the link idle. Four others are one turn, and three the last, each after a piece of
// the other connection.
TEST(ConcurrentCollectives, ShortMessagesOfAConnectionShareATurn) {
  std::vector<Sent> messages(8, {0, 1, pieces(1) / 4});
  messages.push_back({0, 2, pieces(8)});
  const auto there = arrivals(kCluster, 3, messages);
  expect_pieces(there[0], 0.25);
  expect_pieces(there[1], 1.5);
  expect_pieces(there[4], 2.25);
  expect_pieces(there[5], 3.5);
  expect_pieces(there[7], 4);
  expect_pieces(there[8], 10);
}

// Rank 0 takes a third of what each of three ranks sends it; what that leaves of rank 3's link goes to rank 4.
TEST(ConcurrentCollectives, AConnectionWhoseReceiverIsBusyLeavesTheLinkToOthers) {
  const auto there =
      arrivals(kCluster, 5, {{1, 0, pieces(100)}, {2, 0, pieces(100)}, {3, 0, pieces(100)}, {3, 4, pieces(100)}});
  EXPECT_NEAR(there[2] / kPieceTime, 300, 2);
  EXPECT_NEAR(there[3] / kPieceTime, 150, 2);
}

// Latency and the rest of a reduction count once for a message, not for each piece: memory adds 2 MB/s while 4 come.
TEST(ConcurrentCollectives, AMessageAloneTakesAsLongAsInOnePiece) {
  Profile profile = round_cluster();
  profile.memory_rate = BytesPerSecond(6e6);
  const std::int64_t elements = pieces(5) + 1000;
  const double bytes = 4.0 * static_cast<double>(elements);
  for (const auto& [kind, derived] :
       {std::pair{TransferKind::copy, 1e-3 + bytes / 4e6}, std::pair{TransferKind::reduce, 1e-3 + bytes / 2e6}}) {
    Network network(profile, {.workers = 2});
    ConcurrentCollectives collectives(network, kPlain);
    const Schedule schedule{
        .world = {.workers = 2}, .rounds = 1, .transfers = {{.dst = 1, .kind = kind}}, .offsets = {}};
    collectives.begin(prepared(network, to_runs(schedule), elements), Seconds(0));
    EXPECT_NEAR(finish(collectives, 1)[0] / derived, 1, 1e-9);
  }
}

// A worker's links alternate between the chunks of two servers while both are in flight. The short one is back before
// the long one has been pushed, so that nothing shares the link that the long one comes back on.
TEST(ConcurrentCollectives, AChunkIsSentBackWhenItIsAddedUpThoughAnotherIsNot) {
  const std::vector<Shard> shards{{.server = 0, .elements = pieces(1)}, {.server = 1, .elements = pieces(9)}};
  const Schedule schedule = algorithm("ps").build({.world = {.workers = 1, .servers = 2}, .shards = shards});
  expect_pieces(time_of(kCluster, schedule, pieces(10)), 10 + 9);
}

// Twice as slow as its link, a server handles two messages of 8 pieces each way, from the first piece on.
TEST(ConcurrentCollectives, AServerHandlesPiecesAsTheyCome) {
  Profile profile = kCluster;
  profile.server_rate = BytesPerSecond(2e6);
  expect_pieces(server_time(profile, {.workers = 2, .servers = 1}, pieces(8)), 2 * 2 * 2 * 8);
}

// Half as fast as its link, the server has added up two pushes at 32, and has handled the second pull at 64: it leaves
// from 56 on. Until then its receiver's link is free for what the other worker sends at 40.
TEST(ConcurrentCollectives, APullLeavesAsItIsHandled) {
  Profile profile = kCluster;
  profile.server_rate = BytesPerSecond(2e6);
  const World world{.workers = 2, .servers = 1};
  Network network(profile, world);
  ConcurrentCollectives collectives(network, kPlain);
  collectives.begin(prepared(network, algorithm("ps").runs({.world = world}), pieces(8)), Seconds(0));
  const Schedule beside{.world = world, .rounds = 1, .transfers = {{.dst = 1}}, .offsets = {}};
  collectives.begin(prepared(network, to_runs(beside), pieces(8)), Seconds(40 * kPieceTime));
  const auto finished = finish(collectives, 2);
  expect_pieces(finished[0], 64);
  expect_pieces(finished[1], 48);
}

// Of one element and two servers, the second has nothing to do.
TEST(ConcurrentCollectives, AMessageWithoutElementsIsNotSent) {
  const World world{.workers = 1, .servers = 2};
  EXPECT_NEAR(server_time(round_cluster(), world, 1), 2 * (1e-3 + 1e-6), 1e-12);
  EXPECT_EQ(server_time(round_cluster(), world, 0), 0);
}

TEST(ConcurrentCollectives, HaveOnePlanForThoseThatAreAlike) {
  const World world{.workers = 2, .servers = 2}, wider{.workers = 4, .servers = 2};
  const RankLayout layout(world, 1);
  const AlgorithmChoice servers = parse_algorithm("ps");
  ConcurrentPlans plans;
  const auto first = plans.of(layout, world, servers, {{0, 600}, {1, 400}}, 1000);
  EXPECT_EQ(plans.of(layout, world, servers, {{0, 600}, {1, 400}}, 1000), first);
  EXPECT_EQ(first->chunk_begin, (std::vector<std::int64_t>{0, 600, 1000}));
  EXPECT_EQ(first->moved.between, 2 * 2 * 1000);
  EXPECT_EQ(plans.of(layout, world, servers, {{0, 400}, {1, 600}}, 1000)->chunk_begin[1], 400);
  EXPECT_EQ(plans.of(layout, world, servers, {{1, 600}, {0, 400}}, 1000)->transfers[0].dst, 3);
  EXPECT_EQ(plans.of(layout, world, servers, {{0, 600}, {1, 401}}, 1001)->chunk_begin[2], 1001);
  EXPECT_EQ(plans.of(RankLayout(wider, 1), wider, servers, {{0, 600}, {1, 400}}, 1000)->moved.between, 2 * 4 * 1000);
  EXPECT_EQ(plans.of(layout, world, parse_algorithm("direct"), {}, 1000)->transfers.size(), 4);
}

// A collective that begins later finds what the first has left: in one order of events, whatever is asked between.
TEST(ConcurrentCollectives, AreCountedInTheOrderInWhichTheyBegin) {
  Network network(kCluster, {.workers = 2, .servers = 1});
  ConcurrentCollectives collectives(network, kPlain);
  const auto plan = prepared(network, algorithm("ps").runs({.world = network.world()}), 1000);
  EXPECT_TRUE(collectives.idle());
  EXPECT_EQ(collectives.begin(plan, Seconds(2)), 0);
  EXPECT_EQ(collectives.begin(plan, Seconds(1)), 1);
  EXPECT_EQ(collectives.next_event(), Seconds(1));
  std::vector<int> finished;
  while (!collectives.idle())
    if (const auto number = collectives.advance()) finished.push_back(*number);
  EXPECT_EQ(finished, (std::vector<int>{1, 0}));
  EXPECT_EQ(collectives.begin(plan, Seconds(9)), 2);
}

/// What one rank has to send to another, all of it from time 0 on, as a fluid: in each moment the links are shared so
/// that no connection can have more without another one having less that has no more itself (max-min fairness;
/// Bertsekas and Gallager, Data Networks, 1992, section 6.5.2).
std::vector<double> fluid_arrivals(int ranks, const std::vector<Sent>& messages, double rate) {
  std::vector<double> left, there(messages.size(), 0);
  for (const Sent& message : messages) left.push_back(4.0 * static_cast<double>(message.elements));
  double now = 0;
  while (std::ranges::any_of(left, [](double bytes) { return bytes > 0; })) {
    // Fill all connections alike until a link is full; those on it keep what they have.
    std::vector<double> share(messages.size(), 0), room(2 * static_cast<std::size_t>(ranks), rate);
    std::vector<bool> fixed(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) fixed[i] = left[i] <= 0;
    const auto links = [&](std::size_t i) {
      return std::array{static_cast<std::size_t>(messages[i].src), static_cast<std::size_t>(ranks + messages[i].dst)};
    };
    while (std::ranges::count(fixed, false) > 0) {
      std::vector<int> users(room.size());
      for (std::size_t i = 0; i < messages.size(); ++i)
        if (!fixed[i])
          for (const std::size_t link : links(i)) ++users[link];
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t link = 0; link < room.size(); ++link)
        if (users[link] > 0) least = std::min(least, room[link] / users[link]);
      std::vector<bool> full(room.size());
      for (std::size_t link = 0; link < room.size(); ++link)
        full[link] = users[link] > 0 && room[link] / users[link] <= least * (1 + 1e-12);
      for (std::size_t i = 0; i < messages.size(); ++i) {
        const auto [out, in] = links(i);
        if (fixed[i] || (!full[out] && !full[in])) continue;
        fixed[i] = true;
        share[i] = least;
        room[out] -= least;
        room[in] -= least;
      }
    }
    double next = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < messages.size(); ++i)
      if (left[i] > 0) next = std::min(next, left[i] / share[i]);
    now += next;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (left[i] <= 0) continue;
      left[i] -= next * share[i];
      if (left[i] < 1) {
        left[i] = 0;
        there[i] = now;
      }
    }
  }
  return there;
}

// Messages of 10 to 200 pieces between 8 ranks at random, one for each connection.
TEST(ConcurrentCollectives, ShareLinksAsAFluidDoes) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> length(10, 200), rank(0, 7);
  double worst = 0, sum = 0;
  int count = 0;
  for (int trial = 0; trial < 20; ++trial) {
    std::map<std::pair<Rank, Rank>, std::int64_t> chosen;
    for (int i = 0; i < 24; ++i) {
      const Rank src = rank(random), dst = rank(random);
      if (src != dst) chosen[{src, dst}] = pieces(length(random));
    }
    std::vector<Sent> messages;
    for (const auto& [ends, elements] : chosen) messages.push_back({ends.first, ends.second, elements});
    const auto fluid = fluid_arrivals(8, messages, 4e6), simulated = arrivals(kCluster, 8, messages);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const double apart = std::abs(simulated[i] / fluid[i] - 1);
      worst = std::max(worst, apart);
      sum += apart;
      ++count;
    }
  }
  EXPECT_LT(sum / count, 0.02);
  EXPECT_LT(worst, 0.15);
}

}  // namespace
}  // namespace hbench::concurrent_collectives_test
