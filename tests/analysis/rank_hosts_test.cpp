#include "analysis/records/machine_facts.hpp"

#include "tests/support/matchers.hpp"

namespace hbench::rank_hosts_test {
namespace {

TEST(RankHosts, AreReadAsTheyAreWritten) {
  const std::vector<Sample> samples = rank_host_samples({"n1", "n2", "n3"}, {"n1", "n3", "n3"}, 4);
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples[1].value, 2);
  EXPECT_EQ(samples[1].rank, 1);
  EXPECT_EQ(samples[1].launch, 4);
  EXPECT_THAT(hosts_of_ranks(samples, "n1, n2, n3"), ElementsAre("n1", "n3", "n3"));
}

TEST(RankHosts, AreThoseOfTheLastLaunchThatSaysSo) {
  std::vector<Sample> samples = rank_host_samples({"n1", "n2"}, {"n1", "n2", "n2"}, 0);
  const std::vector<Sample> later = rank_host_samples({"n1", "n2"}, {"n1", "n1"}, 1);
  samples.insert(samples.end(), later.begin(), later.end());
  samples.push_back({.launch = 2, .metric = "step_seconds", .value = 1, .unit = "s"});
  EXPECT_THAT(hosts_of_ranks(samples, "n1, n2"), ElementsAre("n1", "n1"));
}

TEST(RankHosts, AreNotKnownOnOneMachineOrOfHostsThatTheRunDoesNotName) {
  EXPECT_THAT(rank_host_samples({}, {}, 0), IsEmpty());
  EXPECT_THAT(rank_host_samples({"n1"}, {"n9"}, 0), IsEmpty());
  EXPECT_THAT(hosts_of_ranks({}, ""), IsEmpty());
  EXPECT_THAT(hosts_of_ranks(rank_host_samples({"n1", "n2"}, {"n2"}, 0), "n1"), IsEmpty());
}

}  // namespace
}  // namespace hbench::rank_hosts_test
