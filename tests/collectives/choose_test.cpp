#include "collectives/network/choose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/collectives/clusters.hpp"
#include "tests/collectives/expect_error.hpp"

namespace hbench {
namespace {

using ::hbench::testing::expect_usage_error;
using ::hbench::testing::round_cluster;

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
        testing::time_of(profile,
                         advice.rule.at(size.bytes)
                             .build({.workers = 8}, advice.rule.at(size.bytes).segments({.workers = 8}, size.bytes)),
                         size.bytes / 4);
    // Of two algorithms and no third one: never worse than the better of these two.
    for (const SizeChoice& end : advice.sizes) {
      const AlgorithmChoice other = parse_algorithm(end.chosen);
      const double time = testing::time_of(
          profile, other.build({.workers = 8}, other.segments({.workers = 8}, size.bytes)), size.bytes / 4);
      EXPECT_LE(chosen, time * (1 + kAsGood) + 1e-12) << size.bytes;
    }
  }
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

TEST(ChooseByModel, ServesEveryWorld) {
  for (const int workers : {1, 2, 3, 7, 12})
    EXPECT_EQ(choose_algorithm(round_cluster(), workers, usual_sizes()).rule.refuses({.workers = workers}), "");
}

}  // namespace
}  // namespace hbench
