// What `hbench doctor` says of GPUs, networks and limits, on machines that tests make up.

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/records/machine_facts.hpp"
#include "bench/doctor/diagnosis.hpp"
#include "bench/doctor/gpu_findings.hpp"
#include "reports/formats/formats.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::doctor_test {
namespace {

namespace fs = std::filesystem;

/// A machine's sysfs.
class Tree {
 public:
  const fs::path& root() const { return folder_.path(); }
  Tree& file(const std::string& path, const std::string& content) {
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << content << "\n";
    return *this;
  }

 private:
  TemporaryFolder folder_;
};

/// What a person reads of the machine's tables.
std::string topology_of(const Machine& machine) {
  Document document;
  for (const Table& table : topology_tables(machine)) document.blocks.emplace_back(table);
  return kTextFormat.render(document);
}

TEST(HostTopology, OfAnEmptyTreeIsEmpty) {
  const Tree tree;
  const HostTopology topology = read_topology(tree.root());
  EXPECT_THAT(topology.nodes, IsEmpty());
  EXPECT_THAT(topology.ports, IsEmpty());
  EXPECT_EQ(numa_of_pci("0000:1b:00.0", tree.root()), std::nullopt);
  EXPECT_EQ(numa_of_pci("", tree.root()), std::nullopt);
}

TEST(HostTopology, ReadsNumaNodesInTheirOrder) {
  Tree tree;
  for (const int node : {10, 2}) tree.file("sys/devices/system/node/node" + std::to_string(node) + "/cpulist", "0-3");
  tree.file("sys/devices/system/node/node2/meminfo", "\nNode 2 MemTotal:       1048576 kB\nNode 2 MemFree: 1 kB");
  tree.file("sys/devices/system/node/possible", "0-10");
  const HostTopology topology = read_topology(tree.root());
  ASSERT_EQ(topology.nodes.size(), 2U);
  EXPECT_EQ(topology.nodes[0].node, 2);
  EXPECT_EQ(topology.nodes[0].cpus, "0-3");
  EXPECT_EQ(topology.nodes[0].memory, std::int64_t{1} << 30) << "2^20 KiB";
  EXPECT_EQ(topology.nodes[1].node, 10);
}

TEST(HostTopology, ReadsCardsButNotWhatIsVirtual) {
  Tree tree;
  tree.file("sys/class/net/lo/operstate", "unknown");
  tree.file("sys/class/net/docker0/operstate", "up").file("sys/class/net/docker0/speed", "10000");
  tree.file("sys/class/net/eth0/operstate", "up")
      .file("sys/class/net/eth0/speed", "25000")
      .file("sys/class/net/eth0/device/numa_node", "1");
  tree.file("sys/class/net/eth1/operstate", "down")
      .file("sys/class/net/eth1/speed", "-1")
      .file("sys/class/net/eth1/device/numa_node", "-1");
  const std::vector<NetworkPort> ports = read_topology(tree.root()).ports;
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports[0].name, "eth0");
  EXPECT_EQ(ports[0].kind, "Ethernet");
  EXPECT_TRUE(ports[0].up);
  EXPECT_EQ(ports[0].speed->value, 25e9 / 8) << "sysfs counts Mbit/s";
  EXPECT_EQ(ports[0].numa, 1);
  EXPECT_EQ(ports[1].name, "eth1");
  EXPECT_FALSE(ports[1].up);
  EXPECT_EQ(ports[1].speed, std::nullopt) << "-1: unknown";
  EXPECT_EQ(ports[1].numa, std::nullopt) << "-1: unknown";
}

TEST(HostTopology, TellsInfiniBandFromRdmaOnEthernet) {
  Tree tree;
  tree.file("sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand")
      .file("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE")
      .file("sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)")
      .file("sys/class/infiniband/mlx5_0/device/numa_node", "0");
  tree.file("sys/class/infiniband/mlx5_1/ports/1/link_layer", "Ethernet")
      .file("sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN")
      .file("sys/class/infiniband/mlx5_1/device/net/eth7/operstate", "down");
  tree.file("sys/class/net/eth7/device/numa_node", "0");
  const std::vector<NetworkPort> ports = read_topology(tree.root()).ports;
  ASSERT_EQ(ports.size(), 2U) << "eth7 is mlx5_1's";
  EXPECT_EQ(ports[0].name, "mlx5_0");
  EXPECT_EQ(ports[0].kind, "InfiniBand");
  EXPECT_TRUE(ports[0].up);
  EXPECT_EQ(ports[0].speed->value, 50e9);
  EXPECT_EQ(ports[0].numa, 0);
  EXPECT_EQ(ports[1].kind, "RoCE");
  EXPECT_FALSE(ports[1].up);
}

TEST(HostTopology, KnowsTheNodeOfAPciDevice) {
  Tree tree;
  tree.file("sys/bus/pci/devices/0000:1b:00.0/numa_node", "1");
  tree.file("sys/bus/pci/devices/0000:43:00.0/numa_node", "-1");
  EXPECT_EQ(numa_of_pci("0000:1b:00.0", tree.root()), 1);
  EXPECT_EQ(numa_of_pci("0000:43:00.0", tree.root()), std::nullopt);
}

GpuFacts healthy(int index) {
  GpuFacts gpu{.index = index, .name = "NVIDIA H100", .pci = "0000:1b:00.0"};
  gpu.now.clock_reasons = 0;
  gpu.pcie = gpu.most_pcie = PcieLink{5, 16};
  gpu.memory_errors = 0;
  gpu.mig = false;
  gpu.persistent = true;
  return gpu;
}

Machine with_gpus(std::vector<GpuFacts> gpus) {
  Machine machine;
  machine.driver.installed = true;
  machine.driver.version = "580.65.06";
  machine.driver.gpus = std::move(gpus);
  return machine;
}

/// `what: state` of those with a cure.
std::vector<std::string> complaints(const Machine& machine) {
  std::vector<std::string> said;
  for (const Finding& finding : gpu_findings(machine))
    if (!finding.cure.empty()) said.push_back((finding.optional ? "-- " : "!! ") + finding.what + ": " + finding.state);
  return said;
}

TEST(DoctorTraining, IsWellWhereItsLossesAreTheSameBits) {
  EXPECT_EQ(finding_of_losses(7, 7).state, "twice the same bits of losses (0000000000000007)");
  EXPECT_EQ(severity_of(finding_of_losses(7, 7)), Severity::pass);
  EXPECT_EQ(finding_of_losses(7, 8).state,
            "the same training ends with other losses (0000000000000007, then 0000000000000008)");
  EXPECT_EQ(severity_of(finding_of_losses(7, 8)), Severity::error);
}

TEST(DoctorGpus, HaveNothingToMendWhereAllIsWell) {
  const Machine machine = with_gpus({healthy(0), healthy(1)});
  EXPECT_THAT(complaints(machine), IsEmpty());
  EXPECT_EQ(gpu_findings(machine).front().state, "2 GPUs, driver 580.65.06");
}

TEST(DoctorGpus, AreNotMissedWhereThereIsNoDriver) {
  Machine machine;
  machine.driver.failure = "there is no NVIDIA driver on this machine";
  EXPECT_THAT(complaints(machine), IsEmpty());
  EXPECT_EQ(gpu_findings(machine).front().state, "none: there is no NVIDIA driver on this machine");
}

TEST(DoctorGpus, AreMissedWhereTheDriverDoesNotAnswer) {
  Machine machine = with_gpus({});
  machine.driver.failure = "the NVIDIA driver does not answer: Driver Not Loaded";
  EXPECT_THAT(complaints(machine), ElementsAre("!! GPU: the NVIDIA driver does not answer: Driver Not Loaded"));
}

/// One thing that is wrong with a GPU, and what is said of it.
struct Trouble {
  const char* name;
  void (*make)(GpuFacts& gpu);
  const char* said;
};
constexpr Trouble kTroubles[] = {
    {"Throttled", [](GpuFacts& gpu) { gpu.now.clock_reasons = clock_reason::kPowerBrake; },
     "!! GPU 1: throttled now: power brake"},
    {"DividedByMig", [](GpuFacts& gpu) { gpu.mig = true; },
     "!! GPU 1: MIG is on: a process gets a part of it, without NVLink or peer copies"},
    {"Asleep", [](GpuFacts& gpu) { gpu.persistent = false; },
     "-- GPU 1: persistence is off: the driver lets it sleep, and each start takes seconds"},
    {"Failing", [](GpuFacts& gpu) { gpu.memory_errors = 1; },
     "!! GPU 1: 1 uncorrected memory error since the driver was loaded"},
    {"Used",
     [](GpuFacts& gpu) {
       gpu.processes = {{4711, std::int64_t{2} << 30}, {4712, {}}};
     },
     "!! GPU 1: in use by process 4711 with 2 GiB and 1 more"},
    {"BadlySeated",
     [](GpuFacts& gpu) {
       gpu.pcie = PcieLink{5, 8};
     },
     "!! GPU 1: PCIe 5.0 x8 where 5.0 x16 is possible"},
    {"InASlowSlot",
     [](GpuFacts& gpu) {
       gpu.pcie = PcieLink{3, 16};
     },
     "!! GPU 1: PCIe 3.0 x16 where 5.0 x16 is possible"},
};

class DoctorTroubles : public ::testing::TestWithParam<Trouble> {};

TEST_P(DoctorTroubles, AreSaidWithACureOfThatGpuAlone) {
  GpuFacts gpu = healthy(1);
  GetParam().make(gpu);
  EXPECT_THAT(complaints(with_gpus({healthy(0), gpu})), ElementsAre(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(Each, DoctorTroubles, ::testing::ValuesIn(kTroubles),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(DoctorGpus, ThatIdleMaySaveThePowerOfTheirLink) {
  GpuFacts gpu = healthy(0);
  gpu.pcie = PcieLink{1, 16};
  gpu.now.clock_reasons = clock_reason::kIdle;
  EXPECT_THAT(complaints(with_gpus({gpu})), IsEmpty());
  EXPECT_EQ(topology_of(with_gpus({gpu})),
            "GPUs\n"
            "GPU  name         PCIe\n"
            "---  -----------  --------------------------------\n"
            "0    NVIDIA H100  PCIe 5.0 x16, now 1.0 x16 (idle)\n");
  gpu.pcie = PcieLink{1, 8};
  EXPECT_THAT(complaints(with_gpus({gpu})), ElementsAre(HasSubstr("PCIe 1.0 x8")));
}

TEST(DoctorGpus, AtTheirPowerCapAreInGoodHealth) {
  GpuFacts gpu = healthy(0);
  gpu.now.clock_reasons = clock_reason::kPowerCap;
  gpu.now.power = 699.7;
  gpu.power_limit = 700;
  EXPECT_THAT(complaints(with_gpus({gpu})), IsEmpty());
  EXPECT_EQ(topology_of(with_gpus({gpu})),
            "GPUs\n"
            "GPU  name         PCIe          power\n"
            "---  -----------  ------------  -------------------------\n"
            "0    NVIDIA H100  PCIe 5.0 x16  700 of 700 W (at its cap)\n");
}

TEST(DoctorGpus, WithTheSameTroubleShareALine) {
  std::vector<GpuFacts> gpus;
  for (int index = 0; index < 8; ++index) {
    gpus.push_back(healthy(index));
    gpus.back().persistent = index == 4;
  }
  EXPECT_THAT(complaints(with_gpus(gpus)), ElementsAre(HasSubstr("GPU 0-3, 5-7: persistence is off")));
}

NetworkPort card(const char* name, int numa, bool up = true) {
  return {.name = name, .kind = "InfiniBand", .up = up, .speed = BytesPerSecond(50e9), .numa = numa};
}

TEST(DoctorGpus, FarFromTheNetworkAreNamed) {
  Machine machine = with_gpus({healthy(0), healthy(1)});
  machine.numa = {{0, 0}, {1, 1}};
  machine.host.nodes = {{0, "0-15", {}}, {1, "16-31", {}}};
  machine.host.ports = {card("mlx5_0", 0), card("mlx5_1", 1, false)};
  EXPECT_THAT(complaints(machine),
              ElementsAre("-- GPU 1: on NUMA node 1, and the nearest network port (mlx5_0) on node 0"));
  machine.host.ports[1].up = true;
  EXPECT_THAT(complaints(machine), IsEmpty());
}

TEST(DoctorLimits, OfContainersThatAreTooSmallForNcclAreNamed) {
  Machine machine = with_gpus({healthy(0)});
  machine.limits = {.shared_memory = std::int64_t{64} << 20, .locked_memory = 64 << 10};
  EXPECT_THAT(complaints(machine), ElementsAre("!! /dev/shm: 64 MiB: NCCL needs more")) << "64 MiB: Docker's default";
  machine.limits.shared_memory = std::int64_t{1} << 30;
  EXPECT_THAT(complaints(machine), IsEmpty()) << "without RDMA cards nothing need be locked";
  machine.host.ports = {card("mlx5_0", 0)};
  EXPECT_THAT(complaints(machine), ElementsAre("!! locked memory: 64 KiB: RDMA cards need theirs locked"));
  machine.limits.locked_memory.reset();
  EXPECT_THAT(complaints(machine), IsEmpty());
}

TEST(DoctorTopology, IsATableOfWhatThereIs) {
  Machine machine = with_gpus({healthy(0), healthy(1)});
  machine.driver.gpus[0].nvlinks = {{NvLinks::End::gpu, 1, 4}, {NvLinks::End::nvswitch, -1, 14}};
  machine.driver.gpus[1].nvlinks = {{NvLinks::End::gpu, 0, 4}};
  machine.driver.gpus[1].now.temperature = 31;
  machine.numa = {{1, 1}};
  machine.host.nodes = {{0, "0-15", std::int64_t{94} << 30}};
  machine.host.ports = {card("mlx5_0", 0), {.name = "eth0", .kind = "Ethernet", .up = false, .speed = {}, .numa = {}}};
  const std::vector<Table> tables = topology_tables(machine);
  ASSERT_EQ(tables.size(), 4U);
  EXPECT_EQ(tables[0].caption, "GPUs");
  EXPECT_THAT(titles_of(tables[0]), ElementsAre("GPU", "name", "PCIe", "node", "temperature"))
      << "what nobody knows is left out";
  EXPECT_THAT(tables[0].rows, ElementsAre(ElementsAre("0", "NVIDIA H100", "PCIe 5.0 x16", "", ""),
                                          ElementsAre("1", "NVIDIA H100", "PCIe 5.0 x16", "NUMA 1", "31 C")));
  EXPECT_EQ(tables[1].caption, "NVLinks that are up");
  EXPECT_THAT(titles_of(tables[1]), ElementsAre("from", "GPU 0", "GPU 1", "switch"));
  EXPECT_THAT(tables[1].rows, ElementsAre(ElementsAre("GPU 0", "-", "4", "14"), ElementsAre("GPU 1", "4", "-", "-")));
  EXPECT_THAT(tables[2].rows, ElementsAre(ElementsAre("NUMA 0", "0-15", "94 GiB")));
  EXPECT_THAT(tables[3].rows, ElementsAre(ElementsAre("mlx5_0", "InfiniBand", "up", "400 Gbit/s", "NUMA 0"),
                                          ElementsAre("eth0", "Ethernet", "down", "unknown", "")));
  EXPECT_THAT(topology_tables({}), IsEmpty());
}

TEST(DoctorFindings, AreMarkedByWhatIsToBeDone) {
  const std::vector<Finding> findings{{"a", "good", ""}, {"b", "bad", "mend it"}, {"c", "absent", "get it", true}};
  EXPECT_THAT(findings_table(findings).rows,
              ElementsAre(ElementsAre("pass", "a", "good"), ElementsAre("error", "b", "bad (fix: mend it)"),
                          ElementsAre("note", "c", "absent (fix: get it)")));
  EXPECT_EQ(problems_among(findings), 1);
}

TEST(DoctorJson, HasEveryFindingItsFixAndTheTopology) {
  const Table ports{.caption = "Network ports", .columns = {"port", "state"}, .rows = {{"eth0", "up"}}};
  const auto json =
      nlohmann::json::parse(doctor_json({{"a", "good", ""}, {"b", "bad", "mend it"}, {"c", "-", "x", true}}, {ports}));
  EXPECT_EQ(json["problems"], 1);
  EXPECT_TRUE(json["findings"][0]["fix"].is_null());
  EXPECT_EQ(json["findings"][1]["fix"], "mend it");
  EXPECT_EQ(json["findings"][1]["problem"], true);
  EXPECT_EQ(json["findings"][2]["problem"], false) << "optional";
  EXPECT_EQ(json["topology"]["Network ports"][0]["state"], "up");
}

}  // namespace
}  // namespace hbench::doctor_test
