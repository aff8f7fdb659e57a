#include "collectives/network/library_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/collectives/clusters.hpp"

namespace hbench {
namespace {

using namespace ::hbench::testing;

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
}  // namespace hbench
