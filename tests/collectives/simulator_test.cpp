#include "collectives/network/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/base/error.hpp"
#include "tests/collectives/clusters.hpp"
#include "tests/support/expect_error.hpp"

namespace hbench::simulator_test {
namespace {

using namespace ::hbench::support;

void expect_equal(double simulated, double derived) { EXPECT_NEAR(simulated / derived, 1, 1e-9) << derived << " s"; }

// Patarasuk and Yuan: 2(N-1) rounds, in each of which every rank sends 1/N of the buffer to its neighbour; half of
// the rounds add what comes, reading two operands and writing one: 3 bytes of memory traffic per byte. Memory of 300
// MB/s adds 100 MB/s while 4 come; one of 6 MB/s adds 2, so those rounds take as long as their additions.
TEST(Simulator, RingOfNodesTakesTheClosedForm) {
  Profile profile = round_cluster();
  for (const double memory : {0.0, 3e8, 12e6, 6e6}) {
    profile.memory_rate = BytesPerSecond(memory);
    const double added = memory == 6e6 ? 2e6 : 4e6;
    for (int ranks = 2; ranks <= 64; ++ranks) {
      const double chunk = 4.0 * 5000;
      const double derived = (ranks - 1) * (2e-3 + chunk / 4e6 + chunk / added);
      expect_equal(ring_time(profile, ranks, 5000 * ranks), derived);
    }
  }
}

// Memory that adds 2 MB/s holds a reduce-scatter back, and not an all-gather, which adds nothing.
TEST(Simulator, OnlyWhatIsAddedReadsMemory) {
  Profile profile = round_cluster();
  profile.memory_rate = BytesPerSecond(6e6);
  const auto time = [&](CollectiveKind collective) {
    return time_of(profile, parse_algorithm("ring", collective).build({.workers = 4}, 1), 4 * 5000);
  };
  const double chunk = 4.0 * 5000;
  expect_equal(time(CollectiveKind::reduce_scatter), 3 * (1e-3 + chunk / 2e6));
  expect_equal(time(CollectiveKind::all_gather), 3 * (1e-3 + chunk / 4e6));
}

// Additions keep pace with what arrives, be that the link, twice the bytes of the protocol of low latency, or streams.
TEST(Simulator, AdditionsStreamWithTheSlowestPartOfTheWay) {
  Profile profile = without_latency(round_cluster());
  profile.memory_rate = BytesPerSecond(6e6);  // adds 2 MB/s
  profile.stream_cap = BytesPerSecond(1e6);
  expect_equal(ring_time(profile, 4, 4 * 5000), 2 * 3 * 4.0 * 5000 / 1e6);
  profile.stream_cap = BytesPerSecond(3e6);
  expect_equal(ring_time(profile, 4, 4 * 5000), 3 * (4.0 * 5000 / 3e6 + 4.0 * 5000 / 2e6));
  expect_equal(ring_time(profile, 4, 4 * 5000, kHalf), 3 * (4.0 * 2500 / 3e6 + 4.0 * 5000 / 2e6));
}

// The same inside one node: latency and rate are those of the links between GPUs.
TEST(Simulator, RingInsideOneNodeNeverMeetsTheNetwork) {
  Profile profile = round_cluster();
  profile.gpus_per_node = 64;
  for (int ranks = 2; ranks <= 64; ++ranks)
    expect_equal(ring_time(profile, ranks, 5000 * ranks), 2 * (ranks - 1) * (1e-4 + 4.0 * 5000 / 4e7));
}

// With free links inside nodes, the ring leaves each node through one GPU only: each NIC carries one chunk per round
// and direction, 2(N-1) of them back to back, however many GPUs there are behind it.
TEST(Simulator, FlatRingOverNodesIsBoundByOneCrossingPerDirection) {
  Profile profile = without_latency(round_cluster());
  profile.local_rate = BytesPerSecond(0);
  for (const int gpus : {1, 2, 4, 8}) {
    profile.gpus_per_node = gpus;
    expect_equal(ring_time(profile, 16, 16'000), 2 * 15 * 4.0 * 1000 / 4e6);
  }
}

TEST(Simulator, OneWorkerHasNothingToSend) {
  Network network(round_cluster(), {.workers = 1});
  EXPECT_EQ(simulate(network, algorithm("ring").build({.world = {.workers = 1}}), kPlain, 1000).value, 0);
}

// Each server takes in its share from every worker, N S/k bytes through one NIC, which is more than the S that a
// worker sends while k <= N; then adds the rest of the last one, and sends as much back.
TEST(Simulator, DedicatedServersAreBoundByTheirNics) {
  Profile profile = round_cluster();
  profile.memory_rate = BytesPerSecond(6e6);  // adds 2 MB/s while 4 come
  for (int workers = 1; workers <= 16; ++workers)
    for (int servers = 1; servers <= workers; ++servers) {
      const std::int64_t elements = 3000 * servers;
      const double share = 4.0 * 3000;
      const double derived = 2 * (1e-3 + workers * share / 4e6) + share / 2e6 - share / 4e6;
      expect_equal(server_time(profile, {.workers = workers, .servers = servers}, elements), derived);
    }
}

// What a server handles, in and out together, can be slower than its NIC: 2 MB/s against 4.
TEST(Simulator, SlowServersAreBoundByTheirOwnRate) {
  Profile profile = round_cluster();
  profile.server_rate = BytesPerSecond(2e6);
  expect_equal(server_time(profile, {.workers = 8, .servers = 2}, 6000), 2 * (1e-3 + 8 * 4.0 * 3000 / 2e6));
  profile.server_rate = BytesPerSecond(8e6);  // faster than its NIC: no bound
  expect_equal(server_time(profile, {.workers = 8, .servers = 2}, 6000), 2 * (1e-3 + 8 * 4.0 * 3000 / 4e6));
}

// With a server on every worker each node sends N-1 shares of S/N and receives as many, twice: the bytes of the ring.
TEST(Simulator, AServerOnEveryWorkerMovesWhatTheRingMoves) {
  for (int ranks = 2; ranks <= 32; ++ranks) {
    const World world{.workers = ranks, .servers = ranks, .colocated = true};
    const double bytes = 2 * (ranks - 1) * 4.0 * 1000;
    expect_equal(server_time(round_cluster(), world, 1000 * ranks), 2 * 1e-3 + bytes / 4e6);
    const Profile no_latency = without_latency(round_cluster());
    expect_equal(server_time(no_latency, world, 1000 * ranks), ring_time(no_latency, ranks, 1000 * ranks));
  }
}

// Whole tensors: the server with the most bytes is the last, 4 workers x 9000 elements each way.
TEST(Simulator, WholeTensorsWaitForTheFullestServer) {
  const std::vector<Shard> shards{{.server = 0, .elements = 9000}, {.server = 1, .elements = 1000}};
  const Schedule schedule = algorithm("ps").build({.world = {.workers = 4, .servers = 2}, .shards = shards});
  expect_equal(time_of(round_cluster(), schedule, 10'000), 2 * (1e-3 + 4 * 4.0 * 9000 / 4e6));
}

TEST(Simulator, HalfTheBytesTakeHalfTheTime) {
  const Profile profile = without_latency(round_cluster());
  for (const int ranks : {2, 5, 16})
    expect_equal(2 * ring_time(profile, ranks, 1000 * ranks, kHalf), ring_time(profile, ranks, 1000 * ranks));
}

// Coding is done by sender and receiver of every hop: with a traffic of 1.5, 2 x 1.5 bytes of memory per byte.
TEST(Simulator, EveryHopPaysForCoding) {
  Profile profile = without_latency(round_cluster());
  profile.memory_rate = BytesPerSecond(3e8);
  Encoding coded = kHalf;
  coded.memory_traffic = 1.5;
  const double chunk = 4.0 * 1000;
  const double derived = 2 * 7 * (chunk / 2 / 4e6 + 2 * 1.5 * chunk / 3e8);
  expect_equal(ring_time(profile, 8, 8000, coded), derived);
}

// One path carries min(line, streams x cap) x efficiency. Two workers of a server have a path each and are bound by
// it; eight together are bound by the server's NIC.
TEST(Simulator, StreamsBoundAPathAndNicsTheirSum) {
  Profile profile = without_latency(round_cluster());
  profile.line_rate = BytesPerSecond(10e6);
  profile.stream_cap = BytesPerSecond(1e6);
  profile.streams = 2;
  profile.protocol_efficiency = 0.8;
  const double bytes = 4.0 * 1000;
  expect_equal(ring_time(profile, 4, 4000), 2 * 3 * bytes / (0.8 * 2e6));
  expect_equal(server_time(profile, {.workers = 2, .servers = 1}, 1000), 2 * bytes / (0.8 * 2e6));
  expect_equal(server_time(profile, {.workers = 8, .servers = 1}, 1000), 2 * 8 * bytes / (0.8 * 10e6));
  profile.streams = 20;  // more than the line carries
  expect_equal(ring_time(profile, 4, 4000), 2 * 3 * bytes / (0.8 * 10e6));
}

TEST(Simulator, NicsOfANodeAddUp) {
  Profile profile = without_latency(round_cluster());
  profile.nics = 4;
  expect_equal(ring_time(profile, 4, 4000), 2 * 3 * 4.0 * 1000 / (4 * 4e6));
}

// The protocol for small messages sends twice the bytes at a tenth of the latency: worth it below 0.9 ms of
// bandwidth, which are 900 elements.
TEST(Simulator, SmallMessagesTakeTheProtocolOfLowLatency) {
  Profile profile = round_cluster();
  profile.network_low_latency = Seconds(1e-4);
  expect_equal(ring_time(profile, 4, 4 * 899), 2 * 3 * (1e-4 + 2 * 4.0 * 899 / 4e6));
  expect_equal(ring_time(profile, 4, 4 * 901), 2 * 3 * (1e-3 + 4.0 * 901 / 4e6));
}

// It is weighed by the slowest part of the way, here streams of 2 MB/s: worth it while the second half of the bytes
// takes less than 0.9 ms there, below 1800 bytes or 450 elements.
TEST(Simulator, SmallMessagesWeighTheirProtocolByTheStreams) {
  Profile profile = round_cluster();
  profile.network_low_latency = Seconds(1e-4);
  profile.stream_cap = BytesPerSecond(2e6);
  expect_equal(ring_time(profile, 4, 4 * 449), 2 * 3 * (1e-4 + 2 * 4.0 * 449 / 2e6));
  expect_equal(ring_time(profile, 4, 4 * 451), 2 * 3 * (1e-3 + 4.0 * 451 / 2e6));
}

// L workers of one node push all they have through one NIC, 4 x S, though either server takes in half of it only. The
// last of 2 L pushes is for server 0: server 1 begins to send back while that one leaves, 1 ms sooner.
TEST(Simulator, WorkersOfANodeShareItsNic) {
  Profile profile = without_latency(round_cluster());
  for (const int gpus : {2, 4}) {
    profile.gpus_per_node = gpus;
    expect_equal(server_time(profile, {.workers = gpus, .servers = 2}, 2000), 2 * gpus * 4.0 * 2000 / 4e6 - 1e-3);
  }
}

// Workers 0 and 1 of a node of two have their servers' shares beside them on links ten times as fast.
TEST(Simulator, AServerInTheSameNodeIsReachedInside) {
  Profile profile = without_latency(round_cluster());
  profile.gpus_per_node = 2;
  const World world{.workers = 2, .servers = 2, .colocated = true};
  expect_equal(server_time(profile, world, 2000), 2 * 4.0 * 1000 / 4e7);
}

// Two nodes of two workers, each with a server of half the buffer, 4000 B; links inside nodes are free. A server that
// handles 1 MB/s takes in four contributions of 4 ms, its own worker's too, and sends as many. Where the workers of a
// node add up first, there are two: its own node's, and the other's in two pieces of 2000 B. On one node there is no
// server process at all.
TEST(Simulator, AServersRateCountsEveryContributionThatItAddsUp) {
  Profile profile = without_latency(round_cluster());
  profile.gpus_per_node = 2;
  profile.local_rate = BytesPerSecond(0);
  profile.server_rate = BytesPerSecond(1e6);
  World world{.workers = 4, .servers = 2, .colocated = true};
  expect_equal(server_time(profile, world, 2000), 2 * 4 * 4.0 * 1000 / 1e6);
  world.group = 2;
  expect_equal(server_time(profile, world, 2000), 2 * 2 * 4.0 * 1000 / 1e6);
  EXPECT_EQ(server_time(profile, {.workers = 2, .servers = 2, .colocated = true}, 2000), 0);
}

// Rank 1 is beside rank 0: its 1000 elements are there after 0.1 + 0.1 ms. Those of rank 2 come from another node after
// 1 + 1 ms, though they are listed first: only then does rank 0 pass the sum on, to be there 0.2 and 2 ms later.
TEST(SimulatedCollective, WaitsForTheLastOfTwoMessagesIntoOneChunkInWhateverOrderTheyAreListed) {
  Profile profile = round_cluster();
  profile.gpus_per_node = 2;
  Schedule schedule{.world = {.workers = 3},
                    .rounds = 2,
                    .transfers = {{0, 2, 0, 0, 1, TransferKind::reduce},
                                  {0, 1, 0, 0, 1, TransferKind::reduce},
                                  {1, 0, 1, 0, 1, TransferKind::copy},
                                  {1, 0, 2, 0, 1, TransferKind::copy}},
                    .offsets = {}};
  for (const bool swapped : {false, true}) {
    if (swapped) std::swap(schedule.transfers[0], schedule.transfers[1]);
    Network network(profile, schedule.world);
    const SimulationPlan plan(network.layout(), to_runs(schedule));
    SimulatedCollective collective(network, plan, kPlain, 1000, Seconds(0));
    while (!collective.done()) collective.advance();
    expect_equal(collective.finish(0).value, 2e-3);
    expect_equal(collective.finish(1).value, 2.2e-3);
    expect_equal(collective.finish(2).value, 4e-3);
  }
}

// 2 of 5 chunks are one element longer; on a ring, some round waits for a longer one in each hop.
TEST(Simulator, UnevenChunksLieBetweenTheEvenOnes) {
  const Profile profile = round_cluster();
  const double uneven = ring_time(profile, 5, 5002);
  EXPECT_GT(uneven, ring_time(profile, 5, 5000));
  EXPECT_LE(uneven, ring_time(profile, 5, 5005));
}

TEST(Simulator, ASlowedClusterIsSlowerByTheFactor) {
  Profile profile = round_cluster();
  profile.gpus_per_node = 4;
  profile.stream_cap = BytesPerSecond(1e6);
  profile.server_rate = BytesPerSecond(2e6);
  profile.local_low_latency = Seconds(1e-5);
  profile.network_low_latency = Seconds(1e-4);
  const Profile slow = profile.slowed(3);
  expect_equal(ring_time(slow, 16, 16'000), 3 * ring_time(profile, 16, 16'000));
  const World world{.workers = 16, .servers = 3};
  expect_equal(server_time(slow, world, 600), 3 * server_time(profile, world, 600));
}

// A collective that begins while another is under way waits for what the other has put on the links.
TEST(Simulator, CollectivesUnderWayShareTheNetwork) {
  const Profile profile = without_latency(round_cluster());
  const Schedule schedule = algorithm("ring").build({.world = {.workers = 2}});
  Network network(profile, schedule.world);
  const SimulationPlan plan(network.layout(), to_runs(schedule));
  SimulatedCollective first(network, plan, kPlain, 2000, Seconds(0));
  SimulatedCollective second(network, plan, kPlain, 2000, Seconds(0));
  while (!first.done()) {
    first.advance();
    second.advance();
  }
  expect_equal(first.finish().value, 3e-3);  // its second chunk waits for the other's first
  expect_equal(second.finish().value, 4e-3);
}

TEST(Simulator, AResetNetworkHasForgottenAllTraffic) {
  const Schedule schedule = algorithm("ps").build({.world = {.workers = 3, .servers = 2}});
  Profile profile = round_cluster();
  profile.server_rate = BytesPerSecond(3e6);
  profile.stream_cap = BytesPerSecond(2e6);
  Network network(profile, schedule.world);
  const Seconds once = simulate(network, schedule, kPlain, 1001);
  EXPECT_EQ(simulate(network, schedule, kPlain, 1001), once);
}

// Asked before each of the 2 x 7 rounds of a ring of 8; at the fifth question it ends.
TEST(Simulator, EndsInTheMiddleWhenAStopIsRequested) {
  const Schedule schedule = algorithm("ring").build({.world = {.workers = 8}});
  Network network(round_cluster(), schedule.world);
  int asked = 0;
  const Seconds whole = simulate(network, schedule, kPlain, 8000, [&] { return ++asked > 100; });
  EXPECT_EQ(asked, 14);
  asked = 0;
  expect_error([&] { simulate(network, schedule, kPlain, 8000, [&] { return ++asked == 5; }); }, ExitCode::interrupted,
               ::testing::_, ::testing::_);
  EXPECT_EQ(asked, 5);
  EXPECT_EQ(simulate(network, schedule, kPlain, 8000), whole);
}

TEST(SimulatedCollective, EndsWithTheLastWorkerWhenTakenRoundByRound) {
  Profile profile = round_cluster();
  profile.gpus_per_node = 2;
  for (const Algorithm* entry : algorithms()) {
    if (entry->is_vendor()) continue;
    const World world{.workers = 5, .servers = entry->uses_servers ? 2 : 0};
    const Schedule schedule = entry->build({.world = world, .parameters = entry->defaults});
    Network network(profile, world);
    const SimulationPlan plan(network.layout(), to_runs(schedule));
    SimulatedCollective collective(network, plan, kPlain, 1001, Seconds(0));
    while (!collective.done()) collective.advance();
    Seconds slowest(0);
    for (Rank rank = 0; rank < world.ranks(); ++rank) slowest = std::max(slowest, collective.finish(rank));
    EXPECT_EQ(slowest.value, time_of(profile, schedule, 1001)) << entry->name;
  }
}

}  // namespace
}  // namespace hbench::simulator_test
