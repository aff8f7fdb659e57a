// hbench profile init: a profile of one's own.

#include "analysis/fit/own_profile.hpp"

#include <sstream>

#include "analysis/catalogue/check.hpp"
#include "bench/launch/installation.hpp"
#include "bench/profile/profile.hpp"
#include "collectives/base/table.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::own_profile_test {
namespace {

OwnCluster eight_h100() {
  return {.gpu = "h100-sxm",
          .gpus_per_node = "8",
          .local_rate = "370 GB/s",
          .line_rate = "400 Gbit/s",
          .nics = "8",
          .transport = "rdma",
          .price = "32usd"};
}

Profile read(const OwnCluster& cluster) {
  return parse_profile(own_profile(cluster, "typed", "2026-11-26"), "mine.toml",
                       installation().data / "cluster-profiles" / "gpus");
}

TEST(OwnProfile, IsReadAndPassesItsCheck) {
  const Profile profile = read(eight_h100());
  EXPECT_EQ(profile.title, "8 x h100-sxm, 8 x 400 Gbit/s");
  EXPECT_EQ(profile.gpus_per_node, 8);
  EXPECT_EQ(profile.local_rate.value, 370e9);
  EXPECT_EQ(profile.nics, 8);
  EXPECT_NEAR(profile.node_rate().value, 8 * 0.95 * 50e9, 1);
  EXPECT_EQ(profile.price->per_node_hour, (Money{32, "USD"}));
  EXPECT_EQ(profile.price->retrieved, "2026-11-26");
  EXPECT_EQ(profile.price->region, kNotStated);
  using namespace std::chrono;
  for (const ProfileFinding& finding : check_profile(profile, "mine.toml", sys_days(2026y / 11 / 26)))
    EXPECT_NE(finding.severity, Severity::error) << finding.what;
  for (const Figure& figure : profile.figures) EXPECT_FALSE(figure.source.empty()) << figure.key;
}

TEST(OwnProfile, HasWhatItsKindOfNetworkAndLinksUsuallyHave) {
  OwnCluster cluster = eight_h100();
  cluster.transport = "tcp";
  EXPECT_TRUE(read(cluster).bound_by_streams()) << "NCCL over TCP does not fill 400 Gbit/s";
  EXPECT_GT(read(cluster).stream_factor, 1);
  cluster.line_rate = "10 Gbit/s";
  cluster.nics = "1";
  EXPECT_EQ(read(cluster).stream_cap.value, 0);
  cluster.local_rate = "12 GB/s";
  EXPECT_GT(read(cluster).local_latency, read(eight_h100()).local_latency) << "PCIe";
  cluster.gpus_per_node = "1";
  cluster.local_rate = "";
  EXPECT_THAT(lacking(cluster), ElementsAre());
  EXPECT_EQ(read(cluster).local_rate.value, 0);
  cluster = eight_h100();
  cluster.nodes_per_domain = "18";
  cluster.instance_type = "big";
  EXPECT_EQ(read(cluster).gpus_per_domain(), 144);
  EXPECT_EQ(read(cluster).instance_type, "big");
}

TEST(OwnProfile, OfOneNodeAloneHasNoNetworkToAskFor) {
  OwnCluster cluster{.gpu = "rtx3090", .gpus_per_node = "4", .local_rate = "20 GB/s", .nics = "0"};
  EXPECT_THAT(lacking(cluster), IsEmpty());
  const Profile profile = read(cluster);
  EXPECT_EQ(profile.most_gpus(), 4);
  EXPECT_FALSE(profile.peer_access) << "by the GPU's file";
}

TEST(OwnProfile, NamesWhatLacksAndWhatIsWrong) {
  EXPECT_THAT(lacking({}),
              ElementsAre("--gpu", "--gpus-per-node", "--local-rate", "--line-rate", "--nics", "--transport"));
  const auto refused = [](std::string OwnCluster::*answer, const char* text, const char* what) {
    OwnCluster cluster;
    cluster.*answer = text;
    expect_error(
        [&] {
          for (const OwnQuestion& question : own_questions()) check_answer(cluster, question);
        },
        ExitCode::usage, what);
  };
  refused(&OwnCluster::line_rate, "fast",
          "--line-rate: invalid rate 'fast': expected a number and bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, B/s, kB/s, "
          "MB/s, GB/s or TB/s");
  refused(&OwnCluster::nics, "-1", "--nics: '-1' is not a count");
  refused(&OwnCluster::gpus_per_node, "many", "--gpus-per-node: 'many' is not a count");
  refused(&OwnCluster::transport, "pigeon", "--transport: 'pigeon' is no transport");
  refused(&OwnCluster::price, "cheap", "--price: 'cheap' is no price");
  refused(&OwnCluster::purchase, "gift", "--purchase: no purchase model 'gift'");
}

// An empty line takes what the machine shows; a wrong answer is asked for again.
TEST(OwnProfile, AsksForTheRestAndTakesSuggestions) {
  OwnCluster cluster{.gpu = "a100"};
  std::istringstream in("\n50 beans\n50 GB/s\n 100 Gbit/s \n\ntcp\n");
  std::ostringstream out;
  ask_for_rest(cluster, {.gpus_per_node = "4", .nics = "2"}, in, out);
  EXPECT_EQ(cluster.gpus_per_node, "4");
  EXPECT_EQ(cluster.local_rate, "50 GB/s");
  EXPECT_EQ(cluster.line_rate, "100 Gbit/s");
  EXPECT_EQ(cluster.nics, "2");
  EXPECT_EQ(cluster.transport, "tcp");
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("GPUs in a node [4]: "), HasSubstr("--local-rate: invalid rate '50 beans'"),
                    HasSubstr("the rate of one NIC [such as 400 Gbit/s]: "), Not(HasSubstr("in the catalogue"))));
  std::istringstream ended("8\n");
  OwnCluster half{.gpu = "a100"};
  expect_error([&] { ask_for_rest(half, {}, ended, out); }, ExitCode::usage,
               "no answer for --local-rate, --line-rate, --nics, --transport");
}

TEST(OwnProfile, KnowsWhatAMachineShows) {
  Machine machine;
  machine.driver.gpus = {{.index = 0, .name = "NVIDIA H100 80GB HBM3"}, {.index = 1, .name = "NVIDIA H100 80GB HBM3"}};
  const auto port = [](const char* name, const char* kind, double gigabits, bool up) {
    return NetworkPort{.name = name, .kind = kind, .up = up, .speed = BytesPerSecond(gigabits * 1e9 / 8)};
  };
  machine.host.ports = {port("mlx5_0", "InfiniBand", 400, true), port("mlx5_1", "InfiniBand", 400, true),
                        port("mlx5_2", "InfiniBand", 400, false), port("eth0", "Ethernet", 100, true)};
  const OwnCluster shown = shown_by(machine, load_data().profiles.gpus());
  EXPECT_EQ(shown.gpus_per_node, "2");
  EXPECT_THAT(shown.gpu, StartsWith("h100"));
  EXPECT_EQ(shown.line_rate, "400 Gbit/s");
  EXPECT_EQ(shown.nics, "2");
  EXPECT_EQ(shown.transport, "rdma");
  EXPECT_EQ(shown_by({}, {}).gpu, "");
  EXPECT_EQ(shown_by({}, {}).line_rate, "");
}

TEST(OwnProfile, HasTheLinksThatATopologySays) {
  OwnCluster pairs = eight_h100();
  pairs.gpu = "a100-80gb-pcie";
  pairs.gpus_per_node = pairs.local_rate = "";
  take_links(pairs, {{0, 12, 0, 0}, {12, 0, 0, 0}, {0, 0, 0, 12}, {0, 0, 12, 0}},
             load_data().profiles.load("dgx-a100"));
  const Profile known = read(pairs);
  EXPECT_EQ(known.gpus_per_node, 4);
  EXPECT_EQ(known.local_rate_of(2).value, 240e9);
  EXPECT_EQ(known.local_rate_of(3), known.local_rate_of(4));
  EXPECT_LT(known.local_rate_of(4), kFastestBus);
  EXPECT_EQ(known.assumed_for(4).size(), 1U) << "the rate over the bus";

  pairs.local_rate = "15 GB/s";
  EXPECT_EQ(read(pairs).local_rate_of(4).value, 15e9) << "what somebody said goes before";
  EXPECT_EQ(read(pairs).local_rate_of(2).value, 240e9);

  OwnCluster other{.gpu = "mine", .gpus_per_node = "4"};
  expect_error(
      [&] {
        take_links(other, {{0, 0}, {0, 0}}, {});
      },
      ExitCode::usage, "--gpus-per-node 4, and the topology has 2 GPUs");
  other.gpus_per_node = "";
  expect_error(
      [&] {
        take_links(other, {{0, 0}, {0, 0}}, {});
      },
      ExitCode::usage, "the bus of 'mine' is not in the catalogue, and its GPUs use it");
}

// GB/s in one direction, and how NCCL counts a link of each: src/graph/topo.h.
TEST(OwnProfile, OfBridgedPairsIsAsItsLinksAloneAndAmongMoreGpus) {
  struct Bridged {
    const char* gpu;
    int links;
    double gigabytes;
  };
  for (const Bridged& each :
       {Bridged{"rtx2080ti", 2, 40}, Bridged{"rtx3090", 4, 48}, Bridged{"rtxa6000", 4, 48}, Bridged{"a40", 4, 48},
        Bridged{"a100-80gb-pcie", 12, 240}, Bridged{"h100-pcie", 12, 240}}) {
    const int n = each.links;
    const auto own = [&](const NodeLinks& links) {
      OwnCluster cluster{.gpu = each.gpu, .nics = "0"};
      take_links(cluster, links, load_data().profiles.gpu(each.gpu));
      const Profile profile = read(cluster);
      using namespace std::chrono;
      for (const ProfileFinding& finding : check_profile(profile, "own.toml", sys_days(2026y / 11 / 26)))
        EXPECT_NE(finding.severity, Severity::error) << each.gpu << ": " << finding.what;
      return profile;
    };
    const Profile pair = own({{0, n}, {n, 0}});
    const Profile pairs = own({{0, n, 0, 0}, {n, 0, 0, 0}, {0, 0, 0, n}, {0, 0, n, 0}});
    EXPECT_NEAR(pair.local_rate_of(2).value / 1e9, each.gigabytes, 1e-9) << each.gpu;
    EXPECT_NEAR(pairs.local_rate_of(2).value / 1e9, each.gigabytes, 1e-9) << each.gpu;
    EXPECT_LT(pairs.local_rate_of(4).value, pairs.gpu_bus_rate.value) << each.gpu;
    EXPECT_TRUE(pair.peer_access) << each.gpu << ": a bridge gives access";
    EXPECT_THAT(pair.title, EndsWith(", one node"));
  }
}

TEST(ProfileInitVerb, RefusesLinksThatItsGpuCannotHaveInOneLine) {
  const TemporaryFolder folder;
  const std::string topology = (folder / "topology.txt").string();
  write_bytes(topology, "  GPU0 GPU1 GPU2\nGPU0 X NV12 SYS\nGPU1 NV12 X SYS\nGPU2 SYS SYS X\n");
  for (const char* gpu : {"rtx4090", "rtx3090", "l40s"})
    expect_refused("profile",
                   {"init", "--gpu", gpu, "--topology", topology, "--nics", "0", "--out", (folder / "m.toml").string()},
                   AllOf(StartsWith("these figures cannot be true: local.rate_2: "), Not(HasSubstr("note"))),
                   "correct the flags that state them, or the topology and the --gpu that they follow from");
}

TEST(OwnProfile, TakesNvLinksFromTheDriver) {
  using End = NvLinks::End;
  const std::vector<GpuFacts> pair{{.index = 2, .nvlinks = {{End::gpu, 5, 4}, {End::other, -1, 2}}},
                                   {.index = 5, .nvlinks = {{End::gpu, 2, 4}}}};
  EXPECT_EQ(links_of(pair), (NodeLinks{{0, 4}, {4, 0}}));
  const std::vector<GpuFacts> switched(3, {.nvlinks = {{End::nvswitch, -1, 18}}});
  EXPECT_EQ(links_of(switched), (NodeLinks{{0, 18, 18}, {18, 0, 18}, {18, 18, 0}}));
  EXPECT_EQ(links_of(std::vector<GpuFacts>(2)), NodeLinks()) << "nothing is shown";
  EXPECT_EQ(links_of({}), NodeLinks());
}

ExitCode profile(const std::vector<std::string>& arguments) { return run_verb("profile", arguments).code; }

TEST(ProfileInitVerb, WritesAFileThatProfileCheckAccepts) {
  const TemporaryFolder folder;
  const std::string file = (folder / "mine.toml").string();
  const std::vector<std::string> flags{"init",    "--gpu",       "h100-sxm",  "--gpus-per-node", "8", "--local-rate",
                                       "370GB/s", "--line-rate", "400Gbit/s", "--nics",          "8", "--transport",
                                       "rdma",    "--out",       file};
  EXPECT_EQ(profile(flags), ExitCode::good);
  EXPECT_EQ(profile({"check", file}), ExitCode::good);
  EXPECT_EQ(load_data().profiles.load(file).gpus_per_node, 8);
  expect_refused("profile", flags, HasSubstr("is there already"));
}

// Tests have no terminal.
TEST(ProfileInitVerb, NamesTheFlagsThatLackWhereThereIsNoTerminal) {
  const TemporaryFolder folder;
  const std::string file = (folder / "mine.toml").string();
  expect_refused("profile", {"init", "--gpu", "a100", "--nics", "1", "--out", file},
                 "a profile needs --gpus-per-node, --local-rate, --line-rate, --transport");
  EXPECT_FALSE(std::filesystem::exists(file));
  expect_refused("profile",
                 {"init", "--gpu", "h100-sxm", "--gpus-per-node", "8", "--local-rate", "900GB/s", "--line-rate",
                  "400Gbit/s", "--nics", "8", "--transport", "rdma", "--out", file},
                 HasSubstr("these figures cannot be true"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(ProfileInitVerb, ReadsATopology) {
  const TemporaryFolder folder;
  const std::string file = (folder / "mine.toml").string(), topology = (folder / "topology.txt").string();
  const std::vector<std::string> flags{"init", "--topology",  topology, "--line-rate", "100Gbit/s", "--nics",
                                       "1",    "--transport", "rdma",   "--out",       file};
  const auto with_gpu = [&](std::vector<std::string> more) {
    more.insert(more.begin(), flags.begin(), flags.end());
    return more;
  };
  expect_refused("profile", with_gpu({"--gpu", "a100"}), HasSubstr("topology.txt"));
  write_bytes(topology, "  GPU0 GPU1\nGPU0 X NV4\nGPU1 NV4 X\n");
  expect_refused("profile", flags, "what NVLinks carry depends on the GPU");
  EXPECT_EQ(profile(with_gpu({"--gpu", "a100"})), ExitCode::good);
  EXPECT_EQ(load_data().profiles.load(file).local_rate.value, 80e9);
}

}  // namespace
}  // namespace hbench::own_profile_test
