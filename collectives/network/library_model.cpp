#include "collectives/network/library_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace hbench {
namespace {

/// Between pieces that cost nothing (0) and the best number of pieces that each cost a latency (2).
constexpr double kPieces = 1.5;

struct Protocol {
  std::string_view name;
  Seconds base;
  double share;  ///< of a link's rate
  /// Where the latency of a hop lies between the low latency of a profile (0) and its latency (1), on logarithms.
  double latency;
};
constexpr std::array kProtocols{Protocol{"LL", kKernelBase, 1 / 3.8, 0}, Protocol{"LL128", Seconds(14e-6), 0.92, 0.5},
                                Protocol{"Simple", Seconds(8.4e-6), 1, 1}};

/// Of a hop between nodes in a tree, relative to one in a ring, with LL (5 and 2.7 us).
constexpr double kTreeHop = 5 / 2.7;
/// Of a reduction in the switch of a node, and of a hop between nodes that follows one.
constexpr Seconds kSwitchLatency(25e-6);
constexpr Seconds kSwitchHop(20.9e-6);

/// The world as the library sees it, to which the nodes of a domain are one.
struct Cluster {
  const Profile& profile;
  double workers;
  double per_node;
  double nodes;
  BytesPerSecond nics;  ///< what those of a node carry

  /// Hops from a node to all others by a binary tree.
  double depth() const { return std::ceil(std::log2(nodes)); }
  /// Times that a buffer passes the NICs of the busiest node in each direction, up and down a double binary tree. Each
  /// tree carries half of it, and a node is inside one of them and a leaf of the other. Between two nodes each tree has
  /// its root on one of them; of three each tree is a chain, whose middle sends up and down; of more, a node inside has
  /// two children.
  double tree_passes() const { return nodes <= 1 ? 0 : nodes <= 2 ? 1 : nodes <= 3 ? 1.5 : 2; }
  /// The same in buffers through all NICs, of which trees out of a domain use a part.
  double tree_buffers() const {
    const BytesPerSecond trees = profile.tree_rate;
    return tree_passes() * (trees.value > 0 && trees < nics ? nics / trees : 1);
  }
};

/// What one algorithm with one protocol takes, without what is constant.
struct Demand {
  double latency = 0;  ///< seconds of all hops that follow each other
  double link = 0;     ///< buffers on the busiest link inside a node
  double nic = 0;      ///< buffers through the NICs of the busiest node
};

/// On the way from `low` to `full`, on logarithms; `full` where there is no `low`.
double between(Seconds low, Seconds full, double place) {
  return low.value > 0 ? low.value * std::pow(full / low, place) : full.value;
}

double local_hop(const Cluster& cluster, const Protocol& protocol) {
  return between(cluster.profile.local_low_latency, cluster.profile.local_latency, protocol.latency);
}

double network_hop(const Cluster& cluster, const Protocol& protocol, double low_factor) {
  const Seconds full = cluster.profile.network_latency;
  return between(std::min(full, low_factor * cluster.profile.network_low_latency), full, protocol.latency);
}

/// The protocols with flags are there where a profile states their latency, inside nodes or between them.
bool has(const Cluster& cluster, const Protocol& protocol) {
  const bool local = cluster.per_node > 1 && cluster.profile.local_low_latency.value > 0;
  const bool remote = cluster.nodes > 1 && cluster.profile.network_low_latency.value > 0;
  return protocol.latency == 1 || local || remote;
}

double seconds(const Cluster& cluster, const Protocol& protocol, const Demand& demand, Bytes bytes) {
  double carried = 0;
  if (demand.link > 0)
    carried = demand.link * (bytes / cluster.profile.local_rate_of(static_cast<int>(cluster.per_node))).value;
  if (demand.nic > 0) carried = std::max(carried, demand.nic * (bytes / cluster.nics).value);
  carried /= protocol.share;
  return demand.latency + carried + kPieces * std::sqrt(demand.latency * carried);
}

/// Every rank sends to the next; the ring enters and leaves each node once.
Demand ring(const Cluster& cluster, CollectiveKind collective, const Protocol& protocol) {
  const double rounds = collective == CollectiveKind::all_reduce ? 2 : 1;
  const double buffers = collective == CollectiveKind::broadcast ? 1 : rounds * (cluster.workers - 1) / cluster.workers;
  const double across = rounds * (cluster.nodes - 1);
  const double hops = rounds * (cluster.workers - 1) - across;
  return {.latency = hops * local_hop(cluster, protocol) + across * network_hop(cluster, protocol, 1),
          .link = cluster.per_node > 1 ? buffers : 0,
          .nic = cluster.nodes > 1 ? buffers : 0};
}

/// Up and down a double binary tree over nodes, with a chain in each: a GPU in the middle of a chain sends the buffer
/// both ways, one at an end, as both of two are, only one way.
Demand tree(const Cluster& cluster, const Protocol& protocol) {
  return {.latency = 2 * ((cluster.per_node - 1) * local_hop(cluster, protocol) +
                          cluster.depth() * network_hop(cluster, protocol, kTreeHop)),
          .link = std::min(2.0, cluster.per_node - 1),
          .nic = cluster.tree_buffers()};
}

/// Every GPU's buffer passes its link to the switch once, which adds up, and its part of the sum once more.
Demand in_switch(const Cluster& cluster) {
  const Seconds hop = std::max(kSwitchHop, cluster.profile.network_latency);
  return {.latency = (kSwitchLatency + 2 * cluster.depth() * hop).value,
          .link = (1 + 1 / cluster.per_node) / cluster.profile.switch_reduction,
          .nic = cluster.tree_buffers()};
}

}  // namespace

LibraryTime library_time(const Profile& profile, CollectiveKind collective, int workers, Bytes bytes) {
  LibraryTime best{.time = Seconds(0), .algorithm = "ring", .protocol = "Simple"};
  if (workers <= 1) return best;
  const int per_node = std::min(workers, profile.gpus_per_domain());
  const Cluster cluster{profile, static_cast<double>(workers), static_cast<double>(per_node),
                        static_cast<double>(profile.domains_of(workers)),
                        profile.path_rate(profile.nodes_of_last_domain(workers))};
  best.time = Seconds(INFINITY);
  const auto consider = [&](std::string_view algorithm, const Protocol& protocol, Seconds base, const Demand& demand) {
    const Seconds time = profile.call_latency + base + Seconds(seconds(cluster, protocol, demand, bytes));
    if (time < best.time) best = {time, algorithm, protocol.name};
  };
  for (const Protocol& protocol : kProtocols) {
    if (!has(cluster, protocol)) continue;
    consider("ring", protocol, protocol.base, ring(cluster, collective, protocol));
    if (collective == CollectiveKind::all_reduce) consider("tree", protocol, protocol.base, tree(cluster, protocol));
  }
  // The latency of the switch is all there is: the library states no base beside it.
  if (collective == CollectiveKind::all_reduce && profile.switch_reduction > 0 && per_node > 2)
    consider("nvls", kProtocols.back(), Seconds(0), in_switch(cluster));
  return best;
}

}  // namespace hbench
