#include "collectives/network/choose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/collectives/clusters.hpp"
#include "tests/support/expect_error.hpp"

namespace hbench::choose_test {
namespace {

using ::hbench::support::round_cluster;

AlgorithmTime at(std::int64_t bytes, std::string algorithm, double seconds) {
  return {std::move(algorithm), bytes, Seconds(seconds)};
}

TEST(ChooseByMeasurement, TakesTheBestOfEachSizeAndMergesNeighbours) {
  const std::vector<AlgorithmTime> times{at(4096, "ring", 4),   at(1024, "ring", 3),  at(1024, "direct", 1),
                                         at(4096, "direct", 2), at(65536, "ring", 5), at(65536, "direct", 8),
                                         at(1 << 20, "ring", 9)};
  const AlgorithmAdvice advice = choose_algorithm(times);
  EXPECT_EQ(advice.rule.text(), "direct@64KiB/ring");
  ASSERT_EQ(advice.sizes.size(), 4U);
  EXPECT_EQ(advice.sizes[0].bytes, 1024);
  EXPECT_EQ(advice.sizes[0].best.algorithm, "direct");
  EXPECT_EQ(advice.sizes[0].runner_up.algorithm, "ring");
  EXPECT_DOUBLE_EQ(advice.sizes[0].margin(), 2);
  EXPECT_EQ(advice.sizes[3].runner_up.algorithm, "");
}

TEST(ChooseByMeasurement, KeepsAnAlgorithmThatIsAsGood) {
  const AlgorithmAdvice advice =
      choose_algorithm(std::vector{at(1024, "ring", 1), at(1024, "direct", 2), at(4096, "ring", 1.019),
                                   at(4096, "direct", 1.0), at(8192, "ring", 1.021), at(8192, "direct", 1.0)});
  EXPECT_EQ(advice.rule.text(), "ring@8KiB/direct");
  EXPECT_EQ(advice.sizes[1].best.algorithm, "direct");
  EXPECT_EQ(advice.sizes[1].chosen, "ring");
}

TEST(UsualSizes, AreTheTenPowersOfFourFrom1KiBTo256MiB) {
  const std::vector<std::int64_t> sizes = usual_sizes();
  EXPECT_EQ(sizes.size(), 10u);
  EXPECT_EQ(sizes.back(), 256 << 20);
  ASSERT_EQ(sizes.size(), 10U);
  for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(sizes[i], std::int64_t{1024} << (2 * i));
}

TEST(ChooseByMeasurement, NeedsTimes) {
  expect_usage_error([] { choose_algorithm(std::span<const AlgorithmTime>()); },
                     "there are no times to choose an algorithm by", "at least one size");
}

TEST(ChooseByModel, FindsThePowerOfTwoWhereTheNextAlgorithmIsTheBetterOne) {
  const Profile profile = round_cluster();
  const std::vector<std::int64_t> sizes{64, 1 << 24};
  const AlgorithmAdvice advice = choose_algorithm(profile, 8, sizes);
  const std::vector<std::int64_t> every_power = [] {
    std::vector<std::int64_t> all;
    for (std::int64_t bytes = 64; bytes <= 1 << 24; bytes *= 2) all.push_back(bytes);
    return all;
  }();
  for (const SizeChoice& size : choose_algorithm(profile, 8, every_power).sizes) {
    const double chosen =
        support::time_of(profile,
                         advice.rule.at(size.bytes)
                             .build({.workers = 8}, advice.rule.at(size.bytes).segments({.workers = 8}, size.bytes)),
                         size.bytes / 4);
    // Of two algorithms and no third one: never worse than the better of these two.
    for (const SizeChoice& end : advice.sizes) {
      const AlgorithmChoice other = parse_algorithm(end.chosen);
      const double time = support::time_of(
          profile, other.build({.workers = 8}, other.segments({.workers = 8}, size.bytes)), size.bytes / 4);
      EXPECT_LE(chosen, time * (1 + kAsGood) + 1e-12) << size.bytes;
    }
  }
}

/// Four nodes of four: 1 ms between nodes, `local` inside, where links have ten times the rate of a NIC.
AlgorithmAdvice advice_for_nodes(Seconds local, std::int64_t small, std::int64_t large) {
  Profile profile = round_cluster();
  profile.gpus_per_node = 4;
  profile.local_latency = local;
  return choose_algorithm(profile, 16, std::vector{small, large});
}

// S bytes by direct exchange: 2 ms, and each NIC carries 4 ranks' parts of S/16 for 12 others, twice: 6 S at 4 MB/s.
// By a hierarchy of direct exchanges: 2 ms and 2 local latencies, and 2 x 3/4 S at 40 MB/s, which is 0.15 S at 4. Four
// parts cross the NIC one behind the other, each 3 messages of S/16, 3/4 S in all; the gathering of a part begins a
// millisecond after its sum is there, when all parts have passed, so that only the last one's 3/16 S come on top:
// 1.0875 S in all. Direct exchange is the better one, or as good (2 %), up to
// (6 - 1.02 x 1.0875) S / 4e6 = 0.02 x 2 ms + 1.02 x 2 local latencies: 199 B at 0.1 ms, 533 B at 0.3 ms, 867 B at
// 0.5 ms. Between sizes four times apart lies one power of two, which is tried.
TEST(ChooseByModel, TriesThePowerOfTwoBetweenSizesFourTimesApart) {
  const std::string hierarchy = "hierarchical:direct:direct";
  EXPECT_EQ(advice_for_nodes(Seconds(1e-4), 128, 512).rule.text(), "direct@256B/" + hierarchy);
  EXPECT_EQ(advice_for_nodes(Seconds(3e-4), 256, 1024).rule.text(), "direct@1KiB/" + hierarchy);
  EXPECT_EQ(advice_for_nodes(Seconds(5e-4), 512, 2048).rule.text(), "direct@1KiB/" + hierarchy);
  EXPECT_EQ(advice_for_nodes(Seconds(1e-4), 64, 256).rule.text(), "direct@256B/" + hierarchy);
  // However far apart the two sizes are, and wherever the search begins.
  for (const std::int64_t small : {8, 16, 32, 64}) {
    for (const std::int64_t large : {2048, 4096, 8192}) {
      EXPECT_EQ(advice_for_nodes(Seconds(1e-4), small, large).rule.text(), "direct@256B/" + hierarchy);
      EXPECT_EQ(advice_for_nodes(Seconds(5e-4), small, large).rule.text(), "direct@1KiB/" + hierarchy);
    }
  }
  EXPECT_EQ(advice_for_nodes(Seconds(1e-4), 128, 256).rule.text(), "direct@256B/" + hierarchy);
}

// Inside one node a hierarchy is direct exchange under another name, and as quick.
TEST(ChooseByModel, OffersNoHierarchyOnOneNode) {
  Profile profile = round_cluster();
  profile.gpus_per_node = 4;
  const AlgorithmAdvice advice = choose_algorithm(profile, 4, std::vector<std::int64_t>{64});
  EXPECT_EQ(advice.sizes[0].best.algorithm, "direct");
  EXPECT_EQ(advice.sizes[0].runner_up.algorithm.find("hierarchical"), std::string::npos);
}

TEST(ChooseByModel, PrefersFewRoundsForSmallBuffersOnASlowNetwork) {
  // 1 ms per message and 8 workers: a ring takes 14 ms before its first byte, direct exchange 2 ms.
  const AlgorithmAdvice advice = choose_algorithm(round_cluster(), 8, std::vector<std::int64_t>{64});
  EXPECT_EQ(advice.rule.text(), "direct");
  EXPECT_NEAR(advice.sizes[0].best.time.value, 0.002, 1e-4);
}

TEST(ChooseByModel, OffersHierarchiesWhereNodesAreFull) {
  Profile profile = round_cluster();
  profile.gpus_per_node = 4;
  // A fast node and a slow network shared by its 4 ranks: only 2 (M-1)/M S leave a node.
  const std::vector<std::int64_t> sizes{1 << 22};
  EXPECT_TRUE(choose_algorithm(profile, 16, sizes).sizes[0].best.algorithm.starts_with("hierarchical:direct:"));
  // 15 workers do not fill nodes of 4; 4 are one node.
  EXPECT_FALSE(choose_algorithm(profile, 15, sizes).sizes[0].best.algorithm.starts_with("hierarchical"));
  EXPECT_FALSE(choose_algorithm(profile, 4, sizes).sizes[0].best.algorithm.starts_with("hierarchical"));
}

// Of 16 ranks alone on their nodes, direct exchange and the ring send 2 x 16 x 15 messages; the segmented ring sends
// each in as many segments as it cuts 256 MiB / 16 into, 256 KiB each: 64.
TEST(TransfersToChoose, AreThoseOfTheLargestCandidate) {
  EXPECT_EQ(transfers_to_choose(round_cluster(), 16, std::vector<std::int64_t>{64}), 2 * 16 * 15);
  EXPECT_EQ(transfers_to_choose(round_cluster(), 16, std::vector<std::int64_t>{std::int64_t{256} << 20, 64}),
            2 * 16 * 15 * 64);
}

TEST(ChooseByModel, ServesEveryWorld) {
  for (const int workers : {1, 2, 3, 7, 12})
    EXPECT_EQ(choose_algorithm(round_cluster(), workers, usual_sizes()).rule.refuses({.workers = workers}), "");
}

}  // namespace
}  // namespace hbench::choose_test
