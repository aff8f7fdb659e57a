#include "bench/hosts/compare_hosts.hpp"

#include <thread>

#include "bench/hosts/host_facts.hpp"
#include "bench/hosts/preflight.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::compare_hosts_test {
namespace {

HostFacts host_called(const std::string& name) {
  return {.name = name,
          .failure = {},
          .facts = {{"hbench", "1 (a)"}, {"cpu", "Xeon"}, {"cores", "8"}, {"free shm", "1000"}},
          .addresses = {{"eth0", "10.0.0.0/24", 1500, 10000}}};
}

std::vector<HostFacts> three_hosts() { return {host_called("n1"), host_called("n2"), host_called("n3")}; }

/// `n2: cores is 4 ...`, one for each finding.
std::vector<std::string> findings_of(const std::vector<HostFacts>& hosts) {
  std::vector<std::string> lines;
  const HostProblems problems = compare_hosts(hosts);
  for (const auto* findings : {&problems.obstacles, &problems.differences})
    for (const Finding& finding : *findings) {
      EXPECT_NE(finding.cure, "") << finding.state;
      lines.push_back(finding.what + ": " + finding.state);
    }
  return lines;
}

TEST(ComparedHosts, ThatAgreeHaveNoFindings) { EXPECT_THAT(findings_of(three_hosts()), IsEmpty()); }

TEST(ComparedHosts, NameTheOddOne) {
  std::vector<HostFacts> hosts = three_hosts();
  hosts[1].facts["cores"] = "4";
  hosts[2].facts.erase("cpu");
  EXPECT_THAT(findings_of(hosts),
              ElementsAre("n3: cpu is not there, and Xeon on n1, n2", "n2: cores is 4, and 8 on n1, n3"));
}

TEST(ComparedHosts, NameTheOneThatComputesOtherLosses) {
  std::vector<HostFacts> hosts = three_hosts();
  for (HostFacts& host : hosts) host.facts["losses"] = "1f";
  EXPECT_THAT(findings_of(hosts), IsEmpty());
  hosts[2].facts["losses"] = "1e";
  EXPECT_THAT(findings_of(hosts), ElementsAre("n3: losses is 1e, and 1f on n1, n2"));
}

TEST(ComparedHosts, NameTheMachineThatIsNamedTwice) {
  std::vector<HostFacts> hosts = three_hosts();
  for (HostFacts& host : hosts) host.facts["machine"] = "n1 boot pid:[1]";
  hosts[1].facts["machine"] = "n2 boot pid:[1]";
  const HostProblems problems = compare_hosts(hosts);
  EXPECT_THAT(findings_of(hosts), ElementsAre("n3: it is n1 by another name"));
  EXPECT_EQ(problems.obstacles.size(), 1);
}

TEST(ComparedHosts, OfTwoTheFirstIsTheMeasure) {
  std::vector<HostFacts> hosts{host_called("n1"), host_called("n2")};
  hosts[0].facts["hbench"] = "2 (b)";
  const HostProblems problems = compare_hosts(hosts);
  EXPECT_THAT(problems.differences, IsEmpty());
  ASSERT_EQ(problems.obstacles.size(), 1) << "ranks of different versions do not understand each other";
  EXPECT_EQ(problems.obstacles.front().what, "n2");
}

TEST(ComparedHosts, OnlyNoteWhatNothingFailsBy) {
  std::vector<HostFacts> hosts = three_hosts();
  hosts[0].facts["kernel"] = "Linux 6.1";
  const HostProblems problems = compare_hosts(hosts);
  EXPECT_THAT(problems.obstacles, IsEmpty());
  ASSERT_EQ(problems.differences.size(), 1);
  EXPECT_EQ(problems.differences.front().state, "kernel is Linux 6.1, and not there on n2, n3");
  EXPECT_TRUE(problems.differences.front().optional);
}

TEST(ComparedHosts, ThatDoNotAnswerAreObstaclesAndNotCompared) {
  std::vector<HostFacts> hosts = three_hosts();
  hosts[1] = {.name = "n2", .failure = "ssh: connection refused", .facts = {}, .addresses = {}};
  EXPECT_THAT(findings_of(hosts), ElementsAre("n2: ssh: connection refused"));
  EXPECT_EQ(compare_hosts(hosts).obstacles.size(), 1);
}

TEST(ComparedHosts, HaveClocksAndSharedMemoryThatJobsNeed) {
  std::vector<HostFacts> hosts = three_hosts();
  hosts[0].clock_off = 0.9;
  hosts[1].clock_off = -120;
  hosts[2].clock_off = 3;
  hosts[2].facts["free shm"] = "63";
  hosts[1].facts["free shm"] = "64";
  EXPECT_THAT(findings_of(hosts), ElementsAre("n2: its clock is 120 s behind", "n3: its clock is 3 s ahead",
                                              "n3: /dev/shm has 63 MiB free"));
}

TEST(ComparedHosts, NeedRoomForTheLaunchersFiles) {
  std::vector<HostFacts> hosts = three_hosts();
  hosts[0].facts["free tmp"] = "16";
  hosts[1].facts["free tmp"] = "15";
  const HostProblems problems = compare_hosts(hosts);
  EXPECT_THAT(findings_of(hosts),
              ElementsAre("n2: the folder for temporary files (TMPDIR, else /tmp) has 15 MiB free"));
  EXPECT_EQ(problems.obstacles.size(), 1) << "no rank starts there";
}

TEST(ComparedHosts, HaveFreeMemoryGpusOfTheirOwnAndALinkWithoutErrors) {
  std::vector<HostFacts> hosts = three_hosts();
  hosts[0].facts["free memory"] = "1000";
  hosts[1].facts["free memory"] = "499";
  hosts[2].facts["free memory"] = "500";
  hosts[0].facts["gpu users"] = "0";
  hosts[1].facts["gpu users"] = "2";
  hosts[2].addresses.front().errors = 7;
  EXPECT_THAT(findings_of(hosts), ElementsAre("n2: 499 MiB of memory are free, and 1000 elsewhere",
                                              "n2: 2 other programs on its GPUs", "n3: eth0 has had 7 faulty frames"));
}

TEST(CommonNetwork, IsTheFastestThatAllHave) {
  std::vector<HostFacts> hosts = three_hosts();
  for (HostFacts& host : hosts) {
    host.addresses.push_back({"docker0", "172.17.0.0/16", 1500, 100000});
    host.addresses.push_back({"eth1", "10.1.0.0/24", 9000, 25000});
  }
  EXPECT_EQ(common_network(hosts), "10.1.0.0/24");
  hosts[2].addresses.pop_back();
  EXPECT_EQ(common_network(hosts), "10.0.0.0/24");
  hosts[0].addresses[0].subnet = "10.9.0.0/24";
  EXPECT_EQ(common_network(hosts), "") << "containers' bridges reach no other host";
  EXPECT_THAT(findings_of(hosts), ElementsAre("n1: it has no subnet that all other hosts have as well"));
  EXPECT_EQ(common_network({}), "");
}

TEST(CommonNetwork, WithAnotherMtuOrSpeedIsAFinding) {
  std::vector<HostFacts> hosts = three_hosts();
  hosts[1].addresses[0].mtu = 9000;
  hosts[2].addresses[0].speed = 100;
  EXPECT_THAT(findings_of(hosts),
              ElementsAre("n2: network 10.0.0.0/24 is MTU 9000, 10 Gbit/s, and MTU 1500, 10 Gbit/s on n1",
                          "n3: network 10.0.0.0/24 is MTU 1500, 100 Mbit/s, and MTU 1500, 10 Gbit/s on n1"));
}

TEST(HostTable, HasOneValueWhereHostsAgree) {
  std::vector<HostFacts> hosts = three_hosts();
  hosts[2].facts["cores"] = "4";
  EXPECT_THAT(host_table(hosts).rows, ElementsAre(ElementsAre("hbench", "1 (a)"), ElementsAre("cpu", "Xeon"),
                                                  ElementsAre("cores", "n1, n2: 8; n3: 4"),
                                                  ElementsAre("network 10.0.0.0/24", "MTU 1500, 10 Gbit/s")));
}

TEST(HostFacts, AreReadAsTheyAreWritten) {
  HostFacts facts = host_called("n\"1");
  facts.addresses.front().errors = 1LL << 40;
  facts.clock = 1.5e9 + 0.25;
  facts.training.no_training = "a";
  facts.training.gpus = 8;
  facts.training.no_gpu = "b";
  facts.training.absent = {{"mpi", "c"}};
  const HostFacts read = parse_host_facts(to_json(facts));
  EXPECT_EQ(read.name, facts.name);
  EXPECT_EQ(read.facts, facts.facts);
  EXPECT_EQ(read.addresses, facts.addresses);
  EXPECT_EQ(read.clock, facts.clock);
  EXPECT_EQ(read.training.no_training, facts.training.no_training);
  EXPECT_EQ(read.training.gpus, facts.training.gpus);
  EXPECT_EQ(read.training.no_gpu, facts.training.no_gpu);
  EXPECT_EQ(read.training.absent, facts.training.absent);
  EXPECT_EQ(to_json(facts).find('\n'), std::string::npos);
  expect_error([] { parse_host_facts("{}"); }, ExitCode::internal, HasSubstr("hbench-worker host"), testing::_);
}

TEST(PreflightEnvironment, IsThatOfTheFirstHostWithTheNetwork) {
  Preflight preflight;
  preflight.hosts = three_hosts();
  preflight.network = "10.0.0.0/24";
  EXPECT_EQ(environment_of(preflight),
            (std::map<std::string, std::string>{
                {"cpu", "Xeon"}, {"cores", "8"}, {"hosts", "n1, n2, n3"}, {"hosts_network", "MTU 1500, 10 Gbit/s"}}));
}

TEST(PreflightError, NamesEachHostAndTheFirstCure) {
  Preflight preflight;
  preflight.problems.obstacles = {{"n1", "is down", "start it"}, {"n2", "too", "see"}};
  const Error error = cannot_run(preflight);
  EXPECT_STREQ(error.what(), "n1: is down; n2: too");
  EXPECT_EQ(error.hint(), "start it");
  EXPECT_EQ(error.code(), ExitCode::environment);
}

TEST(Reach, OfHostsThatKnowTheTokenIsMutual) {
  // Two that call each other at this machine's name: the second finds the first port taken.
  std::vector<std::string> first{"?"}, second{"?"};
  {
    const std::jthread one([&] { first = unreached_hosts({"localhost"}, 77, Seconds(1)); });
    const std::jthread other([&] { second = unreached_hosts({"localhost"}, 77, Seconds(1)); });
  }
  EXPECT_THAT(first, IsEmpty());
  EXPECT_THAT(second, IsEmpty());
}

TEST(Reach, NamesHostsThatAreNotThere) {
  EXPECT_THAT(unreached_hosts({"no-such-host.invalid", "localhost"}, 4242, Seconds(0.5)),
              ElementsAre("no-such-host.invalid"));
  EXPECT_EQ(unreached_json({"a\"b"}), R"({"unreached":["a\"b"]})");
  EXPECT_EQ(unreached_json({}), R"({"unreached":[]})");
}

}  // namespace
}  // namespace hbench::compare_hosts_test
