#pragma once

/// The links between the GPUs of a node, and the rates that some of them reach by these. Pure.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/network/profile.hpp"

namespace hbench {

/// NVLinks between each two GPUs, as `nvidia-smi topo -m` counts them (a switch counts for each pair); 0: PCIe alone.
using NodeLinks = std::vector<std::vector<int>>;

/// Reads what `nvidia-smi topo -m` prints. \throws Error (usage) with the line, for what is no such table.
NodeLinks parse_topology(std::string_view text, std::string_view file_name);

/// A rate that follows from links.
struct LinkRate {
  BytesPerSecond rate;
  std::string source;
  double assumed = 1;  ///< as in `Figure`
  bool links = false;  ///< NVLinks carry it, not the bus
};

/// Returns the rate at which each of the first 2, 3 ... GPUs sends in a ring of them, by their number, up to all. `gpu`
/// is one of the catalogue: NVLinks carry what NCCL takes for their generation, and where no ring of them goes around,
/// PCIe does. A number of GPUs that have PCIe alone is left out where the catalogue does not know the GPU's bus.
std::map<int, LinkRate> rates_among(const NodeLinks& links, const Profile& gpu);

}  // namespace hbench
