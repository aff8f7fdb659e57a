// A profile as links, costs and a dilation.

#include "bench/emulation/cluster.hpp"

#include "analysis/prediction/data.hpp"
#include "bench/emulation/dilation.hpp"
#include "collectives/base/text.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/simulation/step_simulator.hpp"

namespace hbench::emulated_cluster_test {
namespace {

/// Two GPUs on a node; streams that carry less than the NIC.
Profile lab_profile() {
  Profile lab;
  lab.name = "lab";
  lab.gpus_per_node = 2;
  lab.local_rate = BytesPerSecond(8e9);
  lab.local_latency = Seconds(4e-6);
  lab.line_rate = BytesPerSecond(2e9);
  lab.network_latency = Seconds(20e-6);
  lab.stream_cap = BytesPerSecond(0.5e9);
  lab.server_rate = BytesPerSecond(1e9);
  return lab;
}

StepTimeline one_gradient() {
  StepTimeline timeline{.batch = 1, .forward = Seconds(0.05), .backward = Seconds(0.05), .gradients = {}};
  timeline.gradients = {{"all", 25'000'000, Seconds(0.05)}};
  return timeline;
}

TEST(EmulatedCluster, HasTheProfilesRatesAndTimesInDilatedTime) {
  const EmulatedCluster cluster = emulated_cluster(lab_profile(), {.workers = 4}, 100);
  EXPECT_EQ(cluster.links.node_of_rank, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(cluster.links.nodes(), 2);
  EXPECT_DOUBLE_EQ(cluster.links.local_rate.value, 8e7);
  EXPECT_DOUBLE_EQ(cluster.links.node_rate.at(1).value, 2e7);
  EXPECT_DOUBLE_EQ(cluster.links.stream_rate.value, 0.5e7);
  EXPECT_DOUBLE_EQ(cluster.costs.network.latency.value, 20e-4);
  EXPECT_DOUBLE_EQ(cluster.costs.local.latency.value, 4e-4);
  EXPECT_DOUBLE_EQ(cluster.costs.network.seconds_per_byte, 100 / 0.5e9) << "that of a stream";
  EXPECT_THAT(cluster.costs.server_seconds_per_byte, Each(0)) << "there are no servers";
}

TEST(EmulatedCluster, HasNodesOfTheirOwnForDedicatedServers) {
  const EmulatedCluster cluster = emulated_cluster(lab_profile(), {.workers = 4, .servers = 1}, 10);
  EXPECT_EQ(cluster.links.node_of_rank, (std::vector<int>{0, 0, 1, 1, 2}));
  EXPECT_EQ(cluster.costs.server_seconds_per_byte, (std::vector<double>{0, 0, 0, 0, 1e-8}));
}

// Of two workers with a server each, one message stands for two contributions.
TEST(EmulatedCluster, ServersThatAreWorkersHandleTheirOwnContributionsAsInASimulation) {
  const EmulatedCluster cluster = emulated_cluster(lab_profile(), {.workers = 4, .servers = 2, .colocated = true}, 1);
  EXPECT_DOUBLE_EQ(cluster.costs.server_seconds_per_byte[0], 1e-9 * 4 / 3);
  EXPECT_DOUBLE_EQ(cluster.costs.server_seconds_per_byte[1], 0);
  EXPECT_DOUBLE_EQ(cluster.costs.server_seconds_per_byte[2], 1e-9 * 4 / 3);
}

TEST(EmulatedCluster, OfOneNodeHasServersThatCostNothing) {
  const EmulatedCluster cluster = emulated_cluster(lab_profile(), {.workers = 2, .servers = 2, .colocated = true}, 1);
  EXPECT_THAT(cluster.costs.server_seconds_per_byte, Each(0));
}

TEST(EmulatedLinks, HaveAddressesThatSayTheRankAndItsNode) {
  EmulatedLinks links;
  for (int rank = 0; rank < 600; ++rank) links.node_of_rank.push_back(rank / 8);
  for (const Rank rank : {0, 1, 9, 254, 255, 256, 599}) {
    const EmulatedAddress at = parse_emulated_address(links.address(rank));
    EXPECT_EQ(at.rank, rank);
    EXPECT_EQ(at.node, rank / 8);
  }
  EXPECT_EQ(links.address(9), "10.2.0.10");
  for (const char* text : {"", "10.1.0", "11.1.0.1", "10.1.0.0", "10.0.0.1", "10.1.x.1", "n1", "10.1.0.1.1"})
    expect_error([&] { parse_emulated_address(text); }, ExitCode::usage, HasSubstr("no emulated host"), ::testing::_);
}

TEST(EmulatedLinks, ArriveAsTheyWereSent) {
  EmulatedLinks links =
      emulated_cluster(lab_profile(), {.workers = 6}, 7, parse_emulated_faults("link:1:0.5, police:0:0.7")).links;
  EXPECT_EQ(parse_emulated_links(to_json(links)), links);
  EXPECT_EQ(to_json(links).find('\n'), std::string::npos);
  for (const char* text :
       {"", "{}", "[]",
        R"({"node_of_rank":[0,1],"local_rate":1,"stream_rate":0,"node_rate":[1],"police":false,"retransmit":1})"})
    expect_error([&] { parse_emulated_links(text); }, ExitCode::usage, ::testing::_, ::testing::_);
}

TEST(EmulatedCluster, InAStretchedTimeIsTheClusterOfThatDilation) {
  Profile profile = lab_profile();
  profile.local_low_latency = profile.network_low_latency = Seconds(1e-6);
  const World world{.workers = 4, .servers = 2, .colocated = true};
  EmulatedCluster stretched = emulated_cluster(profile, world, 50);
  stretch(stretched, 2);
  const EmulatedCluster slower = emulated_cluster(profile, world, 100);
  EXPECT_EQ(stretched.dilation, 100);
  EXPECT_EQ(stretched.links, slower.links);
  for (const auto hop : {&EmulatedCosts::local, &EmulatedCosts::network}) {
    EXPECT_DOUBLE_EQ((stretched.costs.*hop).latency.value, (slower.costs.*hop).latency.value);
    EXPECT_DOUBLE_EQ((stretched.costs.*hop).low_latency.value, (slower.costs.*hop).low_latency.value);
    EXPECT_DOUBLE_EQ((stretched.costs.*hop).seconds_per_byte, (slower.costs.*hop).seconds_per_byte);
  }
  EXPECT_EQ(stretched.costs.server_seconds_per_byte, slower.costs.server_seconds_per_byte);
}

// 20 MB/s of payload are 20e6 x 8 x 1514 / 1448 bit/s of frames.
TEST(EmulatedLinks, LimitEachNodesLinkToItsRateWithFrames) {
  const EmulatedLinks links = emulated_cluster(lab_profile(), {.workers = 4}, 100).links;
  const NetworkBatch batch = bridges_batch(links, [](Rank rank) { return "ns" + std::to_string(rank); });
  for (const char* device : {"up0", "down0", "up1", "down1"})
    EXPECT_THAT(batch.tc, ContainsRegex(std::string("class add dev ") + device +
                                        " .* htb rate 167292818bit burst 20000 cburst 20000"));
  // Evenly for those who send by it: of a node's own link its ranks, of its link from the others all but those.
  for (const char* sender : {"up1 parent 1:2 protocol ip prio 2 u32 match ip src 10.2.0.3/32 flowid 1:3\n",
                             "up1 parent 1:2 protocol ip prio 2 u32 match ip src 10.2.0.4/32 flowid 1:4\n",
                             "down1 parent 1:2 protocol ip prio 2 u32 match ip src 10.1.0.1/32 flowid 1:3\n",
                             "down1 parent 1:2 protocol ip prio 2 u32 match ip src 10.1.0.2/32 flowid 1:4\n"})
    EXPECT_THAT(batch.tc, HasSubstr(std::string("filter add dev ") + sender));
  EXPECT_THAT(batch.tc, HasSubstr("class add dev down1 parent 1:2 classid 1:4 htb rate 83646409bit ceil 167292818bit"));
  EXPECT_THAT(batch.tc, Not(HasSubstr("dev down1 parent 1:2 classid 1:5")));
  EXPECT_THAT(batch.ip,
              HasSubstr("link add port3 txqueuelen 10000 type veth peer name eth0 txqueuelen 10000 netns ns3\n"
                        "link set port3 master node1 up\n"));
  // From the others of the node only.
  EXPECT_THAT(batch.tc,
              HasSubstr("filter add dev port2 parent 1: protocol ip prio 2 u32 match ip src 10.2.0.0/16 flowid 1:2\n"));
  EXPECT_THAT(batch.tc, ContainsRegex("class add dev port2 .* classid 1:2 htb rate 669171271bit"));
}

TEST(EmulatedLinks, LimitStreamsToEachRankOfAnotherNode) {
  const NetworkBatch batch = rank_batch(emulated_cluster(lab_profile(), {.workers = 4}, 100).links, 1);
  EXPECT_EQ(batch.ip,
            "link set lo up\n"
            "address add 10.1.0.2/8 dev eth0\n"
            "link set eth0 up gso_max_size 13500\n"
            "route change 10.0.0.0/8 dev eth0 rto_min 20000ms\n")
      << "0.2 s, dilated";
  EXPECT_THAT(batch.tc, HasSubstr("match ip dst 10.1.0.0/16 flowid 1:2\n")) << "inside the node";
  EXPECT_THAT(batch.tc, HasSubstr("match ip dst 10.2.0.3/32 flowid 1:3\n"));
  EXPECT_THAT(batch.tc, HasSubstr("match ip dst 10.2.0.4/32 flowid 1:4\n"));
  EXPECT_THAT(batch.tc, ContainsRegex("classid 1:4 htb rate 41823204bit"));
  Profile without = lab_profile();
  without.stream_cap = BytesPerSecond(0);
  without.gpus_per_node = 1;
  const std::string tc = rank_batch(emulated_cluster(without, {.workers = 4}, 100).links, 1).tc;
  EXPECT_THAT(tc, HasSubstr("match ip dst 10.0.0.0/8 flowid 1:2\n")) << "the node's rate is all";
  EXPECT_THAT(tc, ContainsRegex("classid 1:2 htb rate 167292818bit"));
  EXPECT_THAT(tc, Not(HasSubstr("1:3")));
}

// 5 MB/s of a stream, 20 MB/s of a NIC: a hundredth of a second of the slower is 50 kB, and less than 64 KiB too
// little.
TEST(EmulatedLinks, BoundWhatAConnectionHasOnItsWay) {
  const auto buffer_at = [](double dilation) {
    return send_buffer(emulated_cluster(lab_profile(), {.workers = 4}, dilation).links);
  };
  EXPECT_EQ(buffer_at(100), 65'536);
  EXPECT_EQ(buffer_at(10), 500'000);
  EXPECT_EQ(buffer_at(1), 1 << 20);
}

TEST(EmulatedLinks, ThatPoliceDropWhatExceedsTheirBurst) {
  const EmulatedLinks links =
      emulated_cluster(lab_profile(), {.workers = 4}, 100, {{.kind = EmulatedFault::Kind::police}}).links;
  const NetworkBatch batch = bridges_batch(links, [](Rank) { return "ns"; });
  EXPECT_THAT(batch.tc, HasSubstr("qdisc add dev up0 root tbf rate 167292818bit burst 20000 limit 20000\n"));
}

TEST(EmulatedFaults, AreReadAsTheyAreWritten) {
  const char* const text = "link:1:0.5, node:2:1.2, server:0:3, police:0:0.7";
  EXPECT_EQ(to_text(parse_emulated_faults(text)), text);
  EXPECT_TRUE(parse_emulated_faults(" ").empty());
  for (const char* wrong :
       {"link", "link:1", "link:x:2", "link:-1:2", "link:1:0", "link:1:nan", "cable:1:2", "police", "police:1", ","})
    expect_error([&] { parse_emulated_faults(wrong); }, ExitCode::usage, HasSubstr("HBENCH_EMULATED_FAULT"),
                 "write link:NODE:SHARE, node:NODE:FACTOR, server:SERVER:FACTOR or police:NODE:SHARE, several with "
                 "commas between");
}

TEST(EmulatedFaults, ChangeTheLinkOrTheServerThatTheyName) {
  const auto faults = parse_emulated_faults("link:1:0.5,server:0:3");
  const EmulatedCluster cluster = emulated_cluster(lab_profile(), {.workers = 4, .servers = 2}, 1, faults);
  EXPECT_DOUBLE_EQ(cluster.links.node_rate[0].value, 2e9);
  EXPECT_DOUBLE_EQ(cluster.links.node_rate[1].value, 1e9);
  EXPECT_DOUBLE_EQ(cluster.costs.server_seconds_per_byte[4], 3e-9);
  EXPECT_DOUBLE_EQ(cluster.costs.server_seconds_per_byte[5], 1e-9);
}

/// An unfused ring of one gradient.
struct RingStep {
  RingStep() {
    strategy.algorithm = parse_algorithm_rule("ring");
    strategy.fusion = parse_fusion("none");
  }
  EmulatedStep emulated() const { return {profile, world, timeline, strategy}; }

  Profile profile = lab_profile();
  World world{.workers = 4};
  StepTimeline timeline = one_gradient();
  TrainingStrategy strategy;
};

TEST(Dilation, IsEnoughForThisMachinesCoresAndMessages) {
  const RingStep ring;
  const EmulatedStep step = ring.emulated();
  const Seconds ideal = StepSimulator(ring.profile, ring.world).run(ring.timeline, ring.strategy).step;
  double last = 1e9;
  for (const double dilation : {1.0, 10.0, 100.0, 1000.0}) {
    const double here = step_on_machine(step, dilation, 2).value;
    EXPECT_GE(here, ideal.value * (1 - 1e-12)) << "this machine makes no cluster faster";
    EXPECT_LE(here, last);
    last = here;
  }
  EXPECT_NEAR(last, ideal.value, 1e-9 * ideal.value) << "nothing is lost of a step that is long enough";
  const double two = choose_dilation(step, 2);
  EXPECT_LE(step_on_machine(step, two, 2).value, 1.01 * ideal.value);
  RingStep many;
  many.world.workers = 32;
  EXPECT_LT(choose_dilation(many.emulated(), 64), choose_dilation(many.emulated(), 2)) << "more cores need less";
  // 4 ranks send at most 2 x 100 MB each; 1.2 ns a byte are 0.96 s, of two cores half of the time.
  EXPECT_GE(two * ideal.value, 0.96);
}

// However many cores there are, a rank that sleeps between looks sends no more than 90 MB/s.
TEST(Dilation, LetsNoRankSendMoreThanItCanWhileItSleeps) {
  const RingStep ring;  // whose streams carry 500 MB/s
  const EmulatedStep step = ring.emulated();
  EXPECT_GT(step_on_machine(step, 5, 4096).value, step_on_machine(step, 6, 4096).value);
  EXPECT_EQ(choose_dilation(step, 4096), 7);
}

TEST(Dilation, OfSlowLinksIsNone) {
  RingStep ring;
  ring.profile.line_rate = BytesPerSecond(1e6);
  ring.profile.stream_cap = BytesPerSecond(0);
  ring.profile.network_latency = ring.profile.local_latency = Seconds(0.001);
  ring.profile.local_rate = BytesPerSecond(1e7);
  EXPECT_EQ(choose_dilation(ring.emulated(), 2), 1);
}

TEST(Dilation, LooksForMessagesMoreOftenThanTheyTake) {
  const auto every = [](double dilation, const SharedCores& shared) {
    return emulated_polling(Seconds(20e-6), dilation, shared).value;
  };
  EXPECT_DOUBLE_EQ(every(100, {.ranks = 4, .cores = 2}), 1e-3);
  EXPECT_DOUBLE_EQ(every(1, {.ranks = 4, .cores = 2}), 0.5e-3) << "as often as costs little";
  EXPECT_DOUBLE_EQ(every(5000, {.ranks = 4, .cores = 2}), 2e-3);
  // 64 servers look for 25 us each: 1.6 ms of a core, which is a fifth of 2 cores for 4 ms.
  EXPECT_DOUBLE_EQ(every(100, {.ranks = 64, .cores = 2, .servers = true}), 4e-3) << "many ranks look less often";
  EXPECT_DOUBLE_EQ(every(100, {.ranks = 64, .cores = 2}), 64 * 12e-6 / 0.4) << "a ring has fewer messages";
  EXPECT_DOUBLE_EQ(every(100, {.ranks = 64, .cores = 32, .servers = true}), 1e-3);
}

}  // namespace
}  // namespace hbench::emulated_cluster_test
