#pragma once

/// What Linux says of this machine's NUMA nodes and network interfaces, in sysfs. Reads below `root`, so that tests can
/// bring a machine of their own. What cannot be read is left out.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "collectives/base/units.hpp"

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

}  // namespace hbench
