#include "collectives/network/library_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "tests/collectives/clusters.hpp"

namespace hbench::library_model_test {
namespace {

using namespace ::hbench::support;

/// Eight GPUs per node with links of 200 GB/s, one of which adds up in its switch; NICs of 40 GB/s.
Profile eight_per_node() {
  Profile profile;
  profile.gpus_per_node = 8;
  profile.local_latency = Seconds(4e-6);
  profile.local_low_latency = Seconds(1e-6);
  profile.local_rate = BytesPerSecond(200e9);
  profile.network_latency = Seconds(16e-6);
  profile.network_low_latency = Seconds(4e-6);
  profile.line_rate = BytesPerSecond(40e9);
  profile.call_latency = Seconds(10e-6);
  return profile;
}

LibraryTime all_reduce(const Profile& profile, int workers, double bytes) {
  return library_time(profile, CollectiveKind::all_reduce, workers, Bytes(bytes));
}

/// Bytes per second that the links carry in the end, as nccl-tests counts them.
double bus_bandwidth(const Profile& profile, int workers) {
  const double bytes = 1e15;
  return bytes / all_reduce(profile, workers, bytes).time.value * 2 * (workers - 1) / workers;
}

TEST(LibraryModel, FewerGpusHaveTheLinksThatTheyHaveAmongThemselves) {
  Profile pairs = eight_per_node();
  pairs.local_factors = {{2, 1.5}};
  EXPECT_NEAR(bus_bandwidth(pairs, 2), 300e9, 1e9);
  EXPECT_NEAR(bus_bandwidth(pairs, 3), 200e9, 1e9);
  EXPECT_NEAR(bus_bandwidth(eight_per_node(), 2), 200e9, 1e9);
}

TEST(LibraryModel, NothingTakesNoTimeOnOneGpu) { EXPECT_EQ(all_reduce(eight_per_node(), 1, 1e6).time.value, 0); }

// LL, the protocol of little latency: 10 us for the call, 6.7 for LL, and 14 hops of a ring of 1 us.
TEST(LibraryModel, ASmallBufferTakesTheCallTheBaseAndTheHops) {
  const LibraryTime time = all_reduce(eight_per_node(), 8, 1);
  EXPECT_EQ(time.protocol, "LL");
  EXPECT_NEAR(time.time.value, 10e-6 + 6.7e-6 + 14e-6, 1e-7);
}

// Simple on a ring of two nodes of one GPU: D is 2 hops of 16 us, W is 8 MB at 40 GB/s, 200 us.
TEST(LibraryModel, LatencyAndBytesOverlapInPart) {
  Profile profile = eight_per_node();
  profile.gpus_per_node = 1;
  profile.network_low_latency = Seconds(0);
  const double derived = 10e-6 + 8.4e-6 + 32e-6 + 200e-6 + 1.5 * std::sqrt(32e-6 * 200e-6);
  EXPECT_NEAR(all_reduce(profile, 2, 8e6).time.value, derived, 1e-12);
  EXPECT_EQ(all_reduce(profile, 2, 8e6).protocol, "Simple") << "the others need a low latency";
}

// The latency of LL128 lies half-way on logarithms: between 1 and 4 us at 2 us. 14 hops, and 1.75 x 64 MB at 92 % of
// 200 GB/s.
TEST(LibraryModel, InTheMiddleTheProtocolWithLessFlagsIsSoonest) {
  const LibraryTime time = all_reduce(eight_per_node(), 8, 64e6);
  EXPECT_EQ(time.protocol, "LL128");
  const double hops = 28e-6, bytes = 1.75 * 64e6 / (0.92 * 200e9);
  EXPECT_NEAR(time.time.value, 10e-6 + 14e-6 + hops + bytes + 1.5 * std::sqrt(hops * bytes), 1e-12);
}

// A ring carries 2(N-1)/N of the buffer over every link, so its bus bandwidth is the link's.
TEST(LibraryModel, LargeBuffersInANodeReachTheRateOfItsLinks) {
  for (const int gpus : {2, 4, 8}) EXPECT_NEAR(bus_bandwidth(eight_per_node(), gpus) / 200e9, 1, 1e-3);
}

// Between two nodes a double binary tree sends the buffer once each way, the ring almost twice: 15/8 x 40 GB/s of bus
// bandwidth, more than the line carries. On four nodes each way takes it twice, as the ring does.
TEST(LibraryModel, ATreeOfTwoNodesExceedsTheLine) {
  EXPECT_NEAR(bus_bandwidth(eight_per_node(), 16) / (15.0 / 8 * 40e9), 1, 1e-3);
  EXPECT_EQ(all_reduce(eight_per_node(), 16, 1e10).algorithm, "tree");
  EXPECT_NEAR(bus_bandwidth(eight_per_node(), 32) / 40e9, 1, 0.04);
}

/// The other end of each node's way up in a binary tree whose inner nodes are the odd ones of 1 to n, as an in-order
/// numbering gives it (Sanders, Speck and Traeff 2009, section 3); 0 for the root.
std::vector<int> parents(int nodes) {
  std::vector<int> parent(static_cast<std::size_t>(nodes) + 1);
  const std::function<int(int, int, int)> build = [&](int first, int last, int above) {
    if (first > last) return 0;
    int step = 1;
    while (2 * step <= last - first + 1) step *= 2;
    const int root = first + step - 1;
    parent[static_cast<std::size_t>(root)] = above;
    build(first, root - 1, root);
    build(root + 1, last, root);
    return root;
  };
  build(1, nodes, 0);
  return parent;
}

/// Buffers that the busiest node sends when each half goes up and down one of two trees, of which the second is the
/// first with the nodes in reverse (even numbers) or moved on by one (odd).
double sent_by_the_busiest(int nodes) {
  const std::vector<int> parent = parents(nodes);
  std::vector<double> sent(static_cast<std::size_t>(nodes));
  for (int node = 1; node <= nodes; ++node) {
    const int above = parent[static_cast<std::size_t>(node)];
    if (above == 0) continue;
    const auto second = [&](int each) { return nodes % 2 == 0 ? nodes - each : each % nodes; };
    for (const int from : {node - 1, second(node)}) sent[static_cast<std::size_t>(from)] += 0.5;
    for (const int from : {above - 1, second(above)}) sent[static_cast<std::size_t>(from)] += 0.5;
  }
  return *std::ranges::max_element(sent);
}

TEST(LibraryModel, ATreeLoadsTheBusiestNodesNicsAsADoubleBinaryTreeOfSoManyNodesDoes) {
  for (const int nodes : {2, 3, 4, 5, 6, 7, 8, 12, 16, 31, 64}) {
    Profile profile = eight_per_node();
    profile.gpus_per_node = 3;
    profile.local_rate = BytesPerSecond(1e15);
    const double bytes = 1e15, workers = 3.0 * nodes;
    const double ring = 2 * (workers - 1) / workers;
    EXPECT_NEAR(all_reduce(profile, 3 * nodes, bytes).time.value * 40e9 / bytes,
                std::min(ring, sent_by_the_busiest(nodes)), 1e-3)
        << nodes;
  }
}

// 2 x A100 PCIe a node, one HDR100 NIC: 435,572,744 bytes took 34.0 ms on one node and 42.9 on two (a user's figures).
TEST(LibraryModel, ChainsOfTwoGpusSendTheBufferOneWay) {
  Profile profile = eight_per_node();
  profile.gpus_per_node = 2;
  profile.local_latency = Seconds(10e-6);
  profile.local_low_latency = profile.network_low_latency = Seconds(0);
  profile.local_rate = BytesPerSecond(12.8e9);
  profile.network_latency = Seconds(8e-6);
  profile.line_rate = BytesPerSecond(0.864 * 12.5e9);
  EXPECT_NEAR(all_reduce(profile, 2, 435572744).time.value / 34.0e-3, 1, 0.05);
  EXPECT_NEAR(all_reduce(profile, 4, 435572744).time.value / 42.9e-3, 1, 0.05);
}

// The links carry the buffer to the switch and 1/8 of the sum back: 7/4 / (9/8) of their rate, times the switch's
// share.
TEST(LibraryModel, ASwitchThatAddsUpExceedsTheRing) {
  Profile profile = eight_per_node();
  profile.switch_reduction = 0.85;
  EXPECT_NEAR(bus_bandwidth(profile, 8) / (14.0 / 9 * 0.85 * 200e9), 1, 1e-3);
  EXPECT_EQ(all_reduce(profile, 8, 1e9).algorithm, "nvls");
  EXPECT_EQ(all_reduce(profile, 2, 1e9).algorithm, "ring") << "two GPUs gain nothing by it";
  EXPECT_EQ(all_reduce(profile, 8, 1e3).algorithm, "ring") << "its latency is large";
}

// On a network that costs nothing the switches would beat rings of pairs, 1.5 buffers on a link against 15/8, but not
// trees, in which one passes each of two GPUs.
TEST(LibraryModel, TwoGpusOfANodeDoNotAddUpInTheSwitch) {
  Profile profile = eight_per_node();
  profile.gpus_per_node = 2;
  profile.switch_reduction = 1;
  profile.line_rate = BytesPerSecond(1e15);
  EXPECT_EQ(all_reduce(profile, 16, 1e12).algorithm, "tree");
  profile.gpus_per_node = 4;
  EXPECT_EQ(all_reduce(profile, 16, 1e12).algorithm, "nvls");
}

// Streams that carry less than the NICs bound what a library sends.
TEST(LibraryModel, StreamsBoundTheNetwork) {
  Profile profile = eight_per_node();
  profile.stream_cap = BytesPerSecond(5e9);
  EXPECT_NEAR(bus_bandwidth(profile, 16) / (15.0 / 8 * 5e9), 1, 1e-3);
}

// Half of an all-reduce each; a broadcast carries the buffer once over each link.
TEST(LibraryModel, OtherCollectivesCarryTheirShare) {
  const double whole = all_reduce(eight_per_node(), 8, 1e12).time.value;
  for (const CollectiveKind half : {CollectiveKind::reduce_scatter, CollectiveKind::all_gather})
    EXPECT_NEAR(library_time(eight_per_node(), half, 8, Bytes(1e12)).time.value / whole, 0.5, 1e-3);
  EXPECT_NEAR(library_time(eight_per_node(), CollectiveKind::broadcast, 8, Bytes(1e15)).time.value / (1e15 / 200e9), 1,
              1e-3);
}

/// The model once more, one line for each algorithm: seconds of an all-reduce, by figures in us and GB/s. A protocol
/// has a base, a share of the rate and its place between the low latency and the latency.
double again(int per_node, int nodes, double bytes, bool low_local, bool low_network, double in_switch) {
  struct Kind {
    double base, share, place;
  };
  const double n = per_node * nodes, depth = nodes == 1 ? 0 : nodes == 2 ? 1 : nodes <= 4 ? 2 : 3;
  const double times_nic = nodes == 1 ? 0 : nodes == 2 ? 1 : nodes == 3 ? 1.5 : 2;
  double best = 1e9;
  const auto consider = [&](double base, double share, double hops, double link, double nic) {
    const double carried = std::max(link * bytes / 200e3, nic * bytes / 40e3) / share;
    best = std::min(best, 10 + base + hops + carried + 1.5 * std::sqrt(hops * carried));
  };
  for (const Kind& kind : {Kind{6.7, 1 / 3.8, 0}, Kind{14, 0.92, 0.5}, Kind{8.4, 1, 1}}) {
    if (kind.place < 1 && !(per_node > 1 && low_local) && !(nodes > 1 && low_network)) continue;
    const double local = low_local ? std::pow(4, kind.place) : 4;
    const double ring_hop = low_network ? 4 * std::pow(4, kind.place) : 16;
    const double tree_low = 4 * 5 / 2.7;
    const double tree_hop = low_network ? tree_low * std::pow(16 / tree_low, kind.place) : 16;
    const double buffers = 2 * (n - 1) / n;
    consider(kind.base, kind.share, 2 * (nodes * (per_node - 1)) * local + 2 * (nodes - 1) * ring_hop,
             per_node > 1 ? buffers : 0, nodes > 1 ? buffers : 0);
    consider(kind.base, kind.share, 2 * (per_node - 1) * local + 2 * depth * tree_hop, per_node > 2 ? 2 : per_node - 1,
             times_nic);
  }
  if (in_switch > 0 && per_node > 2) consider(0, 1, 25 + 2 * depth * 20.9, (1 + 1.0 / per_node) / in_switch, times_nic);
  return best * 1e-6;
}

// The ring leaves each node once in each round, so that nodes (per_node - 1) of its N - 1 hops stay inside, but the
// last node's, which are as many: N - 1 = nodes (per_node - 1) + (nodes - 1).
TEST(LibraryModel, IsWhatItsFormulasGiveWrittenOnceMore) {
  for (const int per_node : {1, 2, 4, 8})
    for (const int nodes : {1, 2, 3, 4, 8})
      for (const bool low_local : {false, true})
        for (const bool low_network : {false, true})
          for (const double in_switch : {0.0, 0.85})
            for (double bytes = 1; bytes < 1e11; bytes *= 30) {
              if (per_node * nodes == 1) continue;
              Profile profile = eight_per_node();
              profile.gpus_per_node = per_node;
              if (per_node == 1) profile.local_rate = BytesPerSecond(0);  // nothing joins a GPU with itself
              if (!low_local) profile.local_low_latency = Seconds(0);
              if (!low_network) profile.network_low_latency = Seconds(0);
              profile.switch_reduction = in_switch;
              const double expected = again(per_node, nodes, bytes, low_local, low_network, in_switch);
              EXPECT_NEAR(all_reduce(profile, per_node * nodes, bytes).time.value / expected, 1, 1e-9)
                  << per_node << " x " << nodes << ", " << bytes << " B, " << low_local << low_network << in_switch;
            }
}

TEST(LibraryModel, LargerBuffersAndMoreNodesTakeLonger) {
  Profile profile = eight_per_node();
  for (const double share : {0.0, 0.85}) {
    profile.switch_reduction = share;
    for (const int gpus : {2, 8, 16, 64, 256})
      for (double bytes = 8; bytes < 1e10; bytes *= 3) {
        EXPECT_LT(all_reduce(profile, gpus, bytes).time, all_reduce(profile, gpus, 3 * bytes).time);
        if (gpus < 8) continue;
        EXPECT_LT(all_reduce(profile, gpus, bytes).time, all_reduce(profile, 4 * gpus, bytes).time);
      }
  }
}

}  // namespace
}  // namespace hbench::library_model_test
