#include "analysis/fit/node_links.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::node_links_test {
namespace {

const std::string kPairs =
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\x1b[0m\n"
    "GPU0\t X \tNV12\tNODE\tSYS\tPXB\t0-31\t0\n"
    "GPU1\tNV12\t X \tSYS\tSYS\tSYS\t0-31\t0\n"
    "GPU2\tNODE\tSYS\t X \tNV12\tSYS\t32-63\t1\n"
    "GPU3\tSYS\tSYS\tNV12\t X \tSYS\t32-63\t1\n"
    "NIC0\tPXB\tSYS\tSYS\tSYS\t X \n\n"
    "Legend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n";

/// The table that states these links.
std::string table(const NodeLinks& links) {
  std::string text = "    ";
  for (std::size_t i = 0; i < links.size(); ++i) text += fmt::format(" GPU{}", i);
  for (std::size_t i = 0; i < links.size(); ++i) {
    text += fmt::format("\nGPU{}", i);
    for (std::size_t j = 0; j < links.size(); ++j)
      text += i == j ? " X" : links[i][j] == 0 ? " PHB" : fmt::format(" NV{}", links[i][j]);
  }
  return text;
}

NodeLinks all_with(std::size_t gpus, int links) {
  NodeLinks all(gpus, std::vector<int>(gpus, links));
  for (std::size_t i = 0; i < gpus; ++i) all[i][i] = 0;
  return all;
}

/// The hybrid cube mesh of a DGX-1: two quads, in which some pairs have two links, and two links from each GPU to the
/// other quad.
NodeLinks cube_mesh() {
  return {{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
          {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1}, {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
}

Profile gpu_with(double link_rate, double bus_rate) {
  Profile gpu;
  gpu.gpu_link_rate = BytesPerSecond(link_rate);
  gpu.gpu_bus_rate = BytesPerSecond(bus_rate);
  return gpu;
}

/// GB/s among the first 2, 3 ... GPUs.
std::vector<std::string> rates(const NodeLinks& links, const Profile& gpu) {
  std::vector<std::string> texts;
  for (const auto& [gpus, link] : rates_among(links, gpu))
    texts.push_back(fmt::format("{}: {:.4g}", gpus, link.rate.value / 1e9));
  return texts;
}

TEST(NodeLinks, AreReadFromWhatATerminalShows) {
  EXPECT_EQ(parse_topology(kPairs, "topo.txt"),
            (NodeLinks{{0, 12, 0, 0}, {12, 0, 0, 0}, {0, 0, 0, 12}, {0, 0, 12, 0}}));
  EXPECT_EQ(parse_topology(table(cube_mesh()), "topo.txt"), cube_mesh());
}

TEST(NodeLinks, OfPairsLeaveARingOfMoreToTheBus) {
  const auto among = rates_among(parse_topology(kPairs, "topo.txt"), gpu_with(300e9, 31.5e9));
  EXPECT_THAT(rates(parse_topology(kPairs, "topo.txt"), gpu_with(300e9, 31.5e9)),
              ElementsAre("2: 240", "3: 22.05", "4: 22.05"));
  EXPECT_EQ(among.at(2).assumed, 1);
  EXPECT_GT(among.at(3).assumed, 1) << "bridges and sockets are on the way";
}

TEST(NodeLinks, OfAMeshAreMoreAmongMoreGpus) {
  EXPECT_THAT(rates(cube_mesh(), gpu_with(150e9, 15.75e9)),
              ElementsAre("2: 20", "3: 40", "4: 80", "5: 11.03", "6: 60", "7: 80", "8: 120"))
      << "no ring goes around where the fifth has one neighbour among the others";
  EXPECT_THAT(rates(all_with(4, 4), gpu_with(300e9, 31.5e9)), ElementsAre("2: 80", "3: 160", "4: 240"));
}

TEST(NodeLinks, BehindASwitchAreAlike) {
  EXPECT_THAT(rates(all_with(4, 18), gpu_with(450e9, 63e9)), ElementsAre("2: 370.8", "3: 370.8", "4: 370.8"));
  EXPECT_THAT(rates(all_with(3, 18), gpu_with(900e9, 63e9)), ElementsAre("2: 721.8", "3: 721.8"));
  EXPECT_EQ(rates(all_with(16, 6), gpu_with(150e9, 15.75e9)).back(), "16: 120") << "DGX-2";
}

TEST(NodeLinks, OfABusThatNobodyKnowsAreNotTold) {
  EXPECT_THAT(rates(all_with(4, 0), gpu_with(0, 0)), ElementsAre());
  EXPECT_THAT(rates(all_with(2, 0), gpu_with(0, 31.5e9)), ElementsAre("2: 22.05"));
}

TEST(NodeLinks, ThatAreNoTableAreRefusedWithTheLine) {
  const auto refused = [](const std::string& text, const std::string& what) {
    expect_error([&] { parse_topology(text, "topo.txt"); }, ExitCode::usage, what);
  };
  refused("", "topo.txt:0: no table of two or more GPUs");
  refused("Failed to initialize NVML: Driver/library version mismatch\n", "topo.txt:1: no table of two or more GPUs");
  refused("     GPU0\nGPU0  X\n", "topo.txt:2: no table of two or more GPUs");
  refused("  GPU0 GPU1\nGPU0 X NV2\n", "topo.txt:2: no table of two or more GPUs");
  refused("  GPU0 GPU1\nGPU0 X\n", "topo.txt:2: the row of GPU0 with 2 columns is missing");
  refused("  GPU0 GPU1\nGPU1 NV2 X\n", "topo.txt:2: the row of GPU0 with 2 columns is missing");
  refused("  GPU0 GPU1\nGPU0 X NV0\nGPU1 NV0 X\n", "topo.txt:2: 'NV0' is no way between two GPUs");
  refused("  GPU0 GPU1\nGPU0 X QPI\nGPU1 QPI X\n", "topo.txt:2: 'QPI' is no way between two GPUs");
  refused("  GPU0 GPU1\nGPU0 X NV2\nGPU1 NV1 X\n", "topo.txt:3: GPU0 and GPU1 have 2 and 1 NVLinks between them");
}

}  // namespace
}  // namespace hbench::node_links_test
