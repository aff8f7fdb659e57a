#pragma once

/// A cluster profile as links, hosts and costs of an emulation, and as text for those who make them. Pure.
///
/// Every rank has a host of its own: a network namespace with one link. The links of a node's ranks meet in the node's
/// bridge; the bridges of the nodes meet in one for all, each by a link that carries what all NICs of the node carry.
/// A rank's link carries the rate of links inside a node for what stays there, and for the rest of a path the rate of
/// the streams between two ranks, where that is less than the NICs'. Latency and servers are no matter of links: ranks
/// have those costs (`collectives/transport/emulated_transport.hpp`).

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/network/profile.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/transport/emulated_transport.hpp"

namespace hbench {

/// What is wrong on purpose with an emulated cluster, which no simulation knows of; numbers count from 0.
struct EmulatedFault {
  enum class Kind : std::uint8_t {
    link,    ///< node `index`: its link to the others carries `factor` of its rate
    node,    ///< node `index`: its ranks compute `factor` times as long
    server,  ///< server `index`: its processor takes `factor` times as long
    police,  ///< node `index`: once a burst is spent its link has `factor` of its rate, and all links drop what exceeds
             ///< it
  };
  Kind kind = Kind::link;
  int index = 0;
  double factor = 1;

  friend bool operator==(const EmulatedFault&, const EmulatedFault&) = default;
};
/// `link:1:0.5, node:2:1.2, server:0:3, police:0:0.7`; empty text: none. \throws Error (usage) that names the variable.
std::vector<EmulatedFault> parse_emulated_faults(std::string_view text);
/// That text again.
std::string to_text(const std::vector<EmulatedFault>& faults);
/// The product of the factors of such faults; 1 where there is none.
double fault_factor(const std::vector<EmulatedFault>& faults, EmulatedFault::Kind kind, int index);

/// Rates are what reaches a receiver, of the clock: dilated. What TCP/IP adds is in the links, not in these.
struct EmulatedLinks {
  std::vector<int> node_of_rank;          ///< ascending
  BytesPerSecond local_rate;              ///< of a rank's link to the others of its node
  BytesPerSecond stream_rate;             ///< from one rank to one of another node; 0: no less than the node's
  std::vector<BytesPerSecond> node_rate;  ///< by node, of its link to the others, each way
  bool police = false;
  /// After so long TCP sends again what was not acknowledged: its 0.2 s, dilated. Sooner, a queue here that is as long
  /// as one there is in its own time would pass for a loss.
  Seconds retransmit{0.2};

  int ranks() const { return static_cast<int>(node_of_rank.size()); }
  int nodes() const { return node_of_rank.empty() ? 0 : node_of_rank.back() + 1; }
  int node_of(Rank rank) const { return node_of_rank[static_cast<std::size_t>(rank)]; }
  /// `10.2.0.5`: of rank 4, which is on node 1.
  std::string address(Rank rank) const;

  friend bool operator==(const EmulatedLinks&, const EmulatedLinks&) = default;
};
/// What an address says; also numbers from 0.
struct EmulatedAddress {
  int node = 0;
  Rank rank = 0;
};
/// \throws Error (usage) for what is no address of an emulated host.
EmulatedAddress parse_emulated_address(std::string_view text);
/// One argument of a command line, and back. \throws Error (usage).
std::string to_json(const EmulatedLinks& links);
EmulatedLinks parse_emulated_links(std::string_view json);

struct EmulatedCluster {
  EmulatedLinks links;
  EmulatedCosts costs;  ///< `noticed_late` is not set
  double dilation = 1;
};

/// The cluster for a world, whose workers fill nodes in rank order; a dedicated server has a node of its own.
EmulatedCluster emulated_cluster(const Profile& profile, const World& world, double dilation,
                                 const std::vector<EmulatedFault>& faults = {});

/// The same cluster in a time that is slower by a factor.
void stretch(EmulatedCluster& cluster, double factor);

/// Lines for `ip -batch` and `tc -batch`.
struct NetworkBatch {
  std::string ip, tc;
};
/// In the namespace of the bridges. `namespace_of(rank)` is how `ip` finds a rank's.
NetworkBatch bridges_batch(const EmulatedLinks& links, const std::function<std::string(Rank)>& namespace_of);
/// What a connection may have on its way, in bytes: a hundredth of a second of the slowest link, so that what is sent
/// by several to one waits little for each other.
int send_buffer(const EmulatedLinks& links);
/// In the namespace of a rank.
NetworkBatch rank_batch(const EmulatedLinks& links, Rank rank);

/// The address of the namespace of the bridges, from which jobs are launched.
inline constexpr const char* kBridgeAddress = "10.255.255.254";
/// All of these hosts.
inline constexpr const char* kEmulatedSubnet = "10.0.0.0/8";

}  // namespace hbench
