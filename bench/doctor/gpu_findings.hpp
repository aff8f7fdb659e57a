#pragma once

/// What `hbench doctor` makes of GPUs, networks and limits. Pure.

#include <map>
#include <vector>

#include "bench/doctor/diagnosis.hpp"
#include "bench/doctor/host_topology.hpp"
#include "collectives/cuda/gpu_facts.hpp"

namespace hbench {

/// What a process may have of what NCCL needs.
struct Limits {
  std::optional<std::int64_t> shared_memory;  ///< bytes of /dev/shm
  std::optional<std::int64_t> locked_memory;  ///< bytes; none: unlimited
};
/// Of this process.
Limits limits_here();

/// GPUs, networks and limits of one machine. `numa`: nodes of the GPUs, by index, where they are known.
struct Machine {
  DriverFacts driver;
  HostTopology host;
  std::map<int, int> numa;
  Limits limits;
};
/// This one; `root` as in `read_topology`.
Machine machine_here(const std::filesystem::path& root = "/");

/// The line of the GPUs, then one for each thing that is wrong.
std::vector<Finding> gpu_findings(const Machine& machine);

/// Tables of GPUs, of their NVLinks, of NUMA nodes and of network ports; those that there are.
std::vector<Table> topology_tables(const Machine& machine);

}  // namespace hbench
