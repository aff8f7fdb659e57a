#include "analysis/prediction/slow_causes.hpp"

#include <algorithm>
#include <array>

#include "analysis/prediction/varied_network.hpp"

namespace hbench {
namespace {

constexpr double kGigabit = 1e9 / 8;

Profile without_curves(const Profile& healthy) {
  Profile sick = healthy;
  sick.curves.clear();
  return sick;
}

/// NCCL over TCP reaches 38 Gbit/s on a line of 100 (github.com/NVIDIA/nccl/issues/398), where threads that copy are
/// the limit; slower lines are nearly filled. The socket transport takes one interface where nobody names more. A
/// message by TCP takes 30 us and more.
std::optional<Profile> sockets(const Profile& healthy, bool across) {
  if (!across) return std::nullopt;
  Profile sick = without_curves(healthy);
  const double line = healthy.line_rate.value;
  sick.nics = 1;
  sick.protocol_efficiency = 1;
  sick.stream_cap = BytesPerSecond(0);
  sick.line_rate = BytesPerSecond(std::min(0.9 * line, 38 * kGigabit));
  sick.network_latency = std::max(healthy.network_latency, Seconds(30e-6));
  sick.network_low_latency = Seconds(0);
  return sick;
}

std::optional<Profile> sockets_for_rdma(const Profile& healthy, bool across) {
  return healthy.is_tcp() ? std::nullopt : sockets(healthy, across);
}

/// A flow of TCP carries no more than a cloud or a processor core lets one, and several were counted on.
std::optional<Profile> one_stream(const Profile& healthy, bool across) {
  if (!across || !healthy.is_tcp() || healthy.streams < 2) return std::nullopt;
  Profile sick = without_curves(healthy);
  sick.streams = 1;
  return sick;
}

/// Where people ask why two nodes are slower than one: 1.8 to 5 Gbit/s on lines of 25 and 40 (`accuracy.md`).
constexpr double kFarBelowLine = 3 * kGigabit, kFarBelowLineSpread = 0.6;

std::optional<Profile> far_below_the_line(const Profile& healthy, bool across) {
  if (!across || !healthy.is_tcp() || healthy.path_rate().value < 2 * kFarBelowLine) return std::nullopt;
  return with_network_rate(without_curves(healthy), BytesPerSecond(kFarBelowLine));
}

std::optional<Profile> with_nics(const Profile& healthy, bool across, int nics) {
  if (!across || nics < 1 || nics >= healthy.nics) return std::nullopt;
  Profile sick = without_curves(healthy);
  sick.nics = nics;
  return sick;
}

std::optional<Profile> half_of_the_nics(const Profile& healthy, bool across) {
  return healthy.nics == 2 ? std::nullopt : with_nics(healthy, across, healthy.nics / 2);
}

std::optional<Profile> one_nic(const Profile& healthy, bool across) { return with_nics(healthy, across, 1); }

/// What passes where bytes take a way over the host's memory, of what does without it: 48 to 83 %, in the median 56 %
/// (github.com/NVIDIA/nccl/issues/465, 214, 949 and 1579; and 78 of 100 Gbit/s on Azure's NDv2, whose NICs do not reach
/// the GPUs' memory: its node health checks, nd40rs_v2.conf).
constexpr double kOverHost = 0.56, kOverHostSpread = 0.35;
/// Copies over the host's memory keep up with slower lines.
constexpr double kSlowerThanCopies = 20 * kGigabit;

std::optional<Profile> through_host_memory(const Profile& healthy, bool across) {
  if (!across || healthy.is_tcp() || healthy.line_rate.value < kSlowerThanCopies) return std::nullopt;
  Profile sick = without_curves(healthy);
  sick.line_rate = healthy.line_rate * kOverHost;
  sick.network_latency = healthy.network_latency + Seconds(10e-6);
  sick.network_low_latency = Seconds(0);
  return sick;
}

/// One NIC is far from most GPUs of a node, and these reach it over the host's memory.
std::optional<Profile> one_nic_over_host(const Profile& healthy, bool across) {
  const std::optional<Profile> sick = one_nic(healthy, across);
  return sick ? through_host_memory(*sick, across) : std::nullopt;
}

/// The library talks over a network that is there for logins and files, as where no interface is named.
std::optional<Profile> on_interface(const Profile& healthy, bool across, double gigabits) {
  if (healthy.line_rate.value < 2 * gigabits * kGigabit) return std::nullopt;
  std::optional<Profile> sick = sockets(healthy, across);
  if (sick) sick->line_rate = BytesPerSecond(0.94 * gigabits * kGigabit);
  return sick;
}

std::optional<Profile> rings_between_nodes(const Profile& healthy, bool across) {
  return across ? std::optional(with_rings(healthy)) : std::nullopt;
}

/// GPUs of a node that cannot reach each other's memory exchange over that of the host: 12 GB/s by PCIe 3, as NCCL
/// itself takes it (src/graph/topo.h), and the same on a machine with two A100 PCIe.
std::optional<Profile> no_peer_access(const Profile& healthy, bool) {
  if (healthy.gpus_per_node < 2 || healthy.local_rate.value < 15e9 || !healthy.peer_access) return std::nullopt;
  Profile sick = without_curves(healthy);
  sick.local_rate = BytesPerSecond(12e9);
  sick.local_factors.clear();
  sick.local_latency = std::max(healthy.local_latency, Seconds(10e-6));
  sick.local_low_latency = Seconds(0);
  sick.switch_reduction = 0;
  return sick;
}

/// NVLink is there, what adds up in its switch is not.
std::optional<Profile> no_switch_reduction(const Profile& healthy, bool) {
  if (healthy.switch_reduction <= 0) return std::nullopt;
  Profile sick = without_curves(healthy);
  sick.switch_reduction = 0;
  return sick;
}

/// The links of GPUs in other nodes of the rack are there, and nobody may use them: bytes go through the NICs.
std::optional<Profile> no_links_between_nodes(const Profile& healthy, bool) {
  if (healthy.nodes_per_domain == 1) return std::nullopt;
  Profile sick = without_curves(healthy);
  sick.nodes_per_domain = 1;
  sick.tree_rate = BytesPerSecond(0);
  return sick;
}

/// The host is late with each call: a power-saving processor, a rank on the wrong socket, a debugger.
std::optional<Profile> slow_host(const Profile& healthy, bool) {
  Profile sick = without_curves(healthy);
  sick.call_latency = healthy.call_latency + Seconds(100e-6);
  return sick;
}

constexpr std::array kCauses{
    SlowCause{"rings between the nodes, and no trees",
              "NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=TUNING; NCCL_ALGO=Tree for a comparison", rings_between_nodes},
    SlowCause{"sockets (TCP) instead of RDMA",
              "NCCL_DEBUG=INFO: NET/Socket in the log, or NET/IB or the plug-in's name", sockets_for_rdma},
    SlowCause{"sockets on an interface of 10 Gbit/s",
              "NCCL_DEBUG=INFO: the interface in 'NET/Socket : Using'; NCCL_SOCKET_IFNAME",
              [](const Profile& healthy, bool across) { return on_interface(healthy, across, 10); }},
    SlowCause{"sockets on an interface of 1 Gbit/s",
              "NCCL_DEBUG=INFO: the interface in 'NET/Socket : Using'; NCCL_SOCKET_IFNAME",
              [](const Profile& healthy, bool across) { return on_interface(healthy, across, 1); }},
    SlowCause{"one TCP stream between two ranks instead of several",
              "nload on a node's interface; NCCL_SOCKET_NTHREADS and NCCL_NSOCKS_PERTHREAD", one_stream},
    SlowCause{"TCP far below its line (1.8 to 5 Gbit/s were seen on lines of 25 and 40)",
              "iperf3 between two nodes, -P 1 and -P 8; NCCL_DEBUG=INFO: the interface in 'NET/Socket : Using'",
              far_below_the_line, kFarBelowLineSpread},
    SlowCause{"one NIC of a node does all the work",
              "NCCL_DEBUG=INFO: 'NET/IB : Using [0]mlx5_0' lists the NICs; NCCL_IB_HCA", one_nic},
    SlowCause{"one NIC of a node does all the work, over the host's memory",
              "NCCL_DEBUG=INFO: 'NET/IB : Using [0]mlx5_0' lists the NICs, and channels lack /GDRDMA; NCCL_IB_HCA",
              one_nic_over_host, kOverHostSpread},
    SlowCause{"half of the NICs do the work", "NCCL_DEBUG=INFO: 'NET/IB : Using [0]mlx5_0' lists the NICs; NCCL_IB_HCA",
              half_of_the_nics},
    SlowCause{"bytes pass the host's memory (no GPUDirect RDMA)",
              "NCCL_DEBUG=INFO: channels 'via NET/...' lack /GDRDMA; the module nvidia_peermem; PCIe ACS (lspci -vvv)",
              through_host_memory, kOverHostSpread},
    SlowCause{"GPUs of a node do not reach each other's memory",
              "NCCL_DEBUG=INFO: 'via SHM' instead of 'via P2P'; nvidia-smi topo -p2p r; NCCL_P2P_DISABLE",
              no_peer_access},
    SlowCause{"no reductions in the node's switch (NVLS)",
              "NCCL_DEBUG=INFO: 'NVLS multicast support'; NCCL_NVLS_ENABLE", no_switch_reduction},
    SlowCause{"GPUs of other nodes are not reached over NVLink",
              "NCCL_DEBUG=INFO: 'MNNVL 1'; nvidia-smi -q: Fabric, State Completed; the service nvidia-imex",
              no_links_between_nodes},
    SlowCause{"the host is late with each call", "the same with CUDA graphs (-G 10), and with ranks bound to cores",
              slow_host},
};

}  // namespace

Profile with_rings(const Profile& healthy) {
  Profile rings = without_curves(healthy);
  rings.tree_rate = BytesPerSecond(1);
  return rings;
}

std::span<const SlowCause> slow_causes() { return kCauses; }

}  // namespace hbench
