#pragma once

/// A cluster of nodes like this machine, joined by the network of another profile: the text of its file. Pure.

#include <map>
#include <optional>
#include <string>

#include "analysis/fit/link_fit.hpp"
#include "collectives/network/profile.hpp"

namespace hbench {

/// What was measured here.
struct MachineFigures {
  int ranks = 1;                ///< GPUs, or CPU cores that stand for GPUs: one node's
  std::string gpu;              ///< what one of them is, for people
  std::string what;             ///< several of them: `GPUs`, `CPU cores`
  std::string how;              ///< what measured them, when, on what: the source of these figures
  std::string how_linked;       ///< the all-reduces behind `link`
  std::optional<LinkFit> link;  ///< none with one rank
  std::map<std::string, GpuRate, std::less<>> rates;        ///< by workload; their sources say how they were measured
  std::map<std::string, StatedCoding, std::less<>> coding;  ///< by compressor, likewise
};

/// `machines like this joined by hkbu-10gbe, 8 GPUs per node, 10 Gbit/s`: legends have room for the first part.
std::string machine_title(const Profile& network, const MachineFigures& machine);

/// The TOML text that `parse_profile` reads. From `network` come, each with its source, the figures between nodes, of
/// parameter servers, and of computing beside communication; inside a node they are measured, or `network`'s where
/// nothing was. Left out is what belongs to its GPUs and nodes: their rates, memory and price; reductions are within
/// the measured link. The uncertainty is `network`'s, or the fit's mean error where that is larger.
std::string format_machine_profile(const Profile& network, const MachineFigures& machine);

}  // namespace hbench
