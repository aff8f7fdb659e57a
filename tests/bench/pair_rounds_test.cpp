#include "bench/worker/speed_probe.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace hbench::pair_rounds_test {
namespace {

TEST(PairRounds, PairEachHostOnceInARoundAndWithNobodyTwice) {
  for (int hosts = 1; hosts <= 130; ++hosts) {
    std::set<std::pair<int, int>> pairs;
    for (int round = 0; round < pair_rounds(hosts); ++round) {
      int breaks = 0;
      for (int host = 0; host < hosts; ++host) {
        const auto partner = paired_host(host, round, hosts);
        breaks += partner ? 0 : 1;
        if (!partner) continue;
        ASSERT_NE(*partner, host) << hosts;
        ASSERT_EQ(paired_host(*partner, round, hosts), host) << hosts << " hosts, round " << round;
        if (host > *partner) continue;
        ASSERT_TRUE(pairs.emplace(host, *partner).second) << hosts << " hosts, round " << round;
      }
      ASSERT_EQ(breaks, hosts % 2) << hosts << " hosts, round " << round;
    }
  }
}

int pairs_of(int hosts) { return pair_rounds(hosts) * (hosts / 2); }

TEST(PairRounds, MeetAllOthersOfEightHostsAndFewOfMany) {
  for (int hosts = 2; hosts <= 8; ++hosts) EXPECT_EQ(pairs_of(hosts), hosts * (hosts - 1) / 2) << hosts;
  EXPECT_EQ(pair_rounds(9), 8) << "2 log2(9), rounded up, and one host has a break";
  EXPECT_EQ(pair_rounds(16), 8);
  EXPECT_EQ(pair_rounds(17), 10);
  EXPECT_EQ(pairs_of(64), 64 * 6) << "n log2(n)";
  EXPECT_EQ(pairs_of(1000), 1000 * 10);
}

}  // namespace
}  // namespace hbench::pair_rounds_test
