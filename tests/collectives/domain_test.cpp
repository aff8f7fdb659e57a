// Nodes whose GPUs share one NVLink switch: a domain. Closed forms, what the same GPUs in one node would take, and
// measured figures of racks of 72.

#include <gtest/gtest.h>

#include <cmath>

#include "collectives/network/library_model.hpp"
#include "tests/collectives/clusters.hpp"

namespace hbench::domain_test {
namespace {

using namespace ::hbench::support;

void expect_equal(double simulated, double derived) { EXPECT_NEAR(simulated / derived, 1, 1e-9) << derived << " s"; }

/// Two GPUs per node, four nodes per domain, with the figures of `round_cluster`: a NIC of 4 MB/s, links of 40.
Profile four_nodes_joined() {
  Profile profile = round_cluster();
  profile.gpus_per_node = 2;
  profile.nodes_per_domain = 4;
  return profile;
}

/// The same GPUs and NICs in nodes that are whole domains.
Profile one_node(Profile profile) {
  profile.gpus_per_node *= profile.nodes_per_domain;
  profile.nics *= profile.nodes_per_domain;
  profile.nodes_per_domain = 1;
  return profile;
}

TEST(Domain, CountsNodesAndDomainsApart) {
  const Profile profile = four_nodes_joined();
  EXPECT_EQ(profile.gpus_per_domain(), 8);
  EXPECT_EQ(profile.nodes_of(8), 4);
  EXPECT_EQ(profile.domains_of(8), 1);
  EXPECT_EQ(profile.domains_of(9), 2);
  EXPECT_EQ(profile.nodes_of_last_domain(16), 4);
  EXPECT_EQ(profile.nodes_of_last_domain(11), 2);
  EXPECT_EQ(profile.nodes_of_last_domain(3), 2);
  EXPECT_EQ(profile.node_rate(4).value, 4 * profile.node_rate().value);
}

// 2(N-1) rounds over links alone, as in one node, whatever the NICs are.
TEST(Domain, ARingInsideItNeverMeetsANic) {
  Profile profile = four_nodes_joined();
  for (const double line : {4e6, 1e3}) {
    profile.line_rate = BytesPerSecond(line);
    for (int ranks = 2; ranks <= 8; ++ranks)
      expect_equal(ring_time(profile, ranks, 5000 * ranks), 2 * (ranks - 1) * (1e-4 + 4.0 * 5000 / 4e7));
  }
}

// With free links, each domain sends and receives one chunk in each of the 2(N-1) rounds, with the NICs of its four
// nodes, 16 MB/s.
TEST(Domain, ARingOverSeveralLeavesEachWithAllOfItsNics) {
  Profile profile = without_latency(four_nodes_joined());
  profile.local_rate = BytesPerSecond(0);
  for (const int ranks : {16, 24, 64})
    expect_equal(ring_time(profile, ranks, 1000 * ranks), 2 * (ranks - 1) * 4e3 / 16e6);
}

// A domain that one node is left for has the NIC of one node: 4 MB/s.
TEST(Domain, TheLastOneHasTheNicsOfTheNodesThatAreInIt) {
  Profile profile = without_latency(four_nodes_joined());
  profile.local_rate = BytesPerSecond(0);
  expect_equal(ring_time(profile, 10, 10'000), 2 * 9 * 4e3 / 4e6);
  expect_equal(ring_time(profile, 12, 12'000), 2 * 11 * 4e3 / 8e6);
}

// Free links inside; across, the eight GPUs of each of M domains send 2(M-1)/M of an eighth each through its NICs.
TEST(Domain, AHierarchySendsOneBufferAcross) {
  Profile profile = without_latency(four_nodes_joined());
  profile.local_rate = BytesPerSecond(0);
  for (const int domains : {2, 4}) {
    const World world{.workers = 8 * domains, .group = 8};
    const AlgorithmChoice choice = parse_algorithm("hierarchical:direct:ring");
    Network network(profile, world);
    const SimulationPlan plan(network.layout(), choice.runs(world, 1));
    const double buffer = 4.0 * 8000 * domains;
    expect_equal(simulate(network, plan, kPlain, 8000 * domains).value, 2.0 * (domains - 1) / domains * buffer / 16e6);
  }
}

// Full domains are nodes with as many GPUs and NICs: the same time to the last bit, for every schedule and size.
TEST(Domain, TakesTheTimeOfANodeThatHasAllOfItsGpusAndNics) {
  Profile profile = four_nodes_joined();
  profile.memory_rate = BytesPerSecond(3e8);
  profile.network_low_latency = Seconds(1e-4);
  const Profile node = one_node(profile);
  for (const Algorithm* entry : algorithms()) {
    if (entry->is_vendor()) continue;
    const World world{
        .workers = 24, .servers = entry->uses_servers ? 3 : 0, .colocated = true, .group = entry->uses_groups ? 8 : 1};
    if (!entry->refuses(world).empty()) continue;
    const Schedule schedule = entry->build({.world = world, .parameters = entry->defaults});
    for (const std::int64_t elements : {240, 24'001})
      EXPECT_EQ(time_of(profile, schedule, elements), time_of(node, schedule, elements)) << entry->name;
  }
}

// The NIC of a dedicated server is that of its node, 4 MB/s: it takes in 8 shares and sends as many.
TEST(Domain, ADedicatedServerHasTheNicsOfItsNode) {
  const Profile profile = without_latency(four_nodes_joined());
  expect_equal(server_time(profile, {.workers = 8, .servers = 1}, 1000), 2 * 8 * 4e3 / 4e6);
}

/// A rack of 18 nodes of four GPUs: links of 700 GB/s, of which its switch adds up at 60 %, and four NICs of 50 GB/s in
/// each node.
Profile rack() {
  Profile profile;
  profile.gpus_per_node = 4;
  profile.nodes_per_domain = 18;
  profile.local_latency = Seconds(3.4e-6);
  profile.local_rate = BytesPerSecond(700e9);
  profile.switch_reduction = 0.6;
  profile.network_latency = Seconds(14e-6);
  profile.line_rate = BytesPerSecond(50e9);
  profile.nics = 4;
  return profile;
}

double all_reduce(const Profile& profile, int workers, double bytes) {
  return library_time(profile, CollectiveKind::all_reduce, workers, Bytes(bytes)).time.value;
}

TEST(Domain, IsANodeToTheVendorsLibrary) {
  for (const int workers : {4, 72, 144, 1440})
    for (const double bytes : {1e4, 1e7, 1e10})
      EXPECT_EQ(all_reduce(rack(), workers, bytes), all_reduce(one_node(rack()), workers, bytes));
}

// Between two racks trees carry the buffer once, at 390 GB/s; the switches take 73/72 of it at 60 % of 700, and a ring
// twice 143/144 of it. Over twenty racks trees would carry it twice, and a ring, which takes all NICs, is sooner.
TEST(Domain, TreesOutOfItCarryNoMoreThanTheirRate) {
  Profile profile = rack();
  profile.tree_rate = BytesPerSecond(390e9);
  const double bytes = 1e17;
  EXPECT_NEAR(all_reduce(profile, 144, bytes) / (bytes / 390e9), 1, 1e-3);
  EXPECT_NEAR(all_reduce(rack(), 144, bytes) / (bytes * 73 / 72 / (0.6 * 700e9)), 1, 1e-3);
  EXPECT_NEAR(all_reduce(profile, 1440, bytes) / (2.0 * 1439 / 1440 * bytes / 700e9), 1, 1e-3);
  EXPECT_EQ(all_reduce(profile, 72, bytes), all_reduce(rack(), 72, bytes)) << "nothing leaves the rack";
  profile.tree_rate = BytesPerSecond(1e13);
  EXPECT_EQ(all_reduce(profile, 1440, bytes), all_reduce(rack(), 1440, bytes)) << "its NICs carry less";
}

TEST(Domain, IsSlowedWithItsTreesAndMovesWithWhatIsAssumedOfThem) {
  Profile profile = rack();
  profile.tree_rate = BytesPerSecond(440e9);
  EXPECT_DOUBLE_EQ(profile.slowed(2).tree_rate.value, 220e9);
  profile.figures.push_back({.key = "network.tree_rate", .assumed = 2});
  EXPECT_DOUBLE_EQ(profile.at(End::worse).tree_rate.value, 220e9);
  EXPECT_DOUBLE_EQ(profile.at(End::better).tree_rate.value, 880e9);
}

}  // namespace
}  // namespace hbench::domain_test
