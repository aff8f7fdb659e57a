#pragma once

/// What `hbench doctor` makes of GPUs, networks and limits. Pure, but for reading what Linux says of NUMA nodes and
/// network interfaces in sysfs: below `root`, so that tests can bring a machine of their own. What cannot be read is
/// left out.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/doctor/diagnosis.hpp"
#include "collectives/base/units.hpp"
#include "collectives/cuda/gpu_facts.hpp"

namespace hbench {

struct NumaNode {
  int node = 0;
  std::string cpus;                    ///< `0-15,32-47`
  std::optional<std::int64_t> memory;  ///< bytes
};

/// A network card's port. Virtual ones (loopback, bridges) are left out.
struct NetworkPort {
  std::string name;  ///< `eth0`, `mlx5_0`
  std::string kind;  ///< `Ethernet`, `InfiniBand`, or `RoCE`: RDMA on Ethernet
  bool up = false;
  std::optional<BytesPerSecond> speed;
  std::optional<int> numa;  ///< none where the machine does not tell, or has no NUMA nodes
  bool rdma() const { return kind != "Ethernet"; }
};

struct HostTopology {
  std::vector<NumaNode> nodes;
  std::vector<NetworkPort> ports;  ///< RDMA ports first, each kind by name
};

HostTopology read_topology(const std::filesystem::path& root = "/");

/// The NUMA node of a PCI device (`0000:1b:00.0`).
std::optional<int> numa_of_pci(const std::string& address, const std::filesystem::path& root = "/");

/// What a process may have of what NCCL needs.
struct ProcessLimits {
  std::optional<std::int64_t> shared_memory;  ///< bytes of /dev/shm
  std::optional<std::int64_t> locked_memory;  ///< bytes; none: unlimited
};
/// Of this process.
ProcessLimits limits_here();

/// GPUs, networks and limits of one machine. `numa`: nodes of the GPUs, by index, where they are known.
struct Machine {
  DriverFacts driver;
  HostTopology host;
  std::map<int, int> numa;
  ProcessLimits limits;
};
/// This one; `root` as in `read_topology`.
Machine machine_here(const std::filesystem::path& root = "/");

/// The line of the GPUs, then one for each thing that is wrong.
std::vector<Finding> gpu_findings(const Machine& machine);

/// Tables of GPUs, of their NVLinks, of NUMA nodes and of network ports; those that there are.
std::vector<Table> topology_tables(const Machine& machine);

}  // namespace hbench
