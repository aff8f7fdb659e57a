#pragma once

/// The links and servers of a cluster as queues in virtual time.
///
/// A message occupies every resource on its way: the sender's and the receiver's link inside a node, or the NICs of
/// both nodes, and the parameter server that handles it. Nodes that share a switch for the links of their GPUs (a
/// domain of a `Profile`) are one node here, which has the NICs of all. Each is a first-come-first-served queue with a
/// rate. Where streams between two ranks are slower than the NICs (one TCP connection, say), they are a queue of their
/// own.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "collectives/compressors/compressor.hpp"
#include "collectives/network/profile.hpp"
#include "collectives/network/rank_layout.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// How long a server of this world is busy for each byte that is pushed to it or pulled from it; 0: no time.
double server_seconds_per_byte(const Profile& profile, const World& world);

/// The queues of one cluster for one world. Keeps what earlier messages left behind, so that collectives which are in
/// flight together slow each other. Times are in seconds. Not thread-safe.
class Network {
 public:
  /// For how long one message occupies each resource on its way; the same for all senders, as all links of a kind are
  /// alike.
  struct Message {
    double link = 0;
    double streams = 0;     ///< 0: they are no bottleneck
    double server = 0;      ///< of the one that handles it, where there is one
    double afterwards = 0;  ///< from the last byte's departure until the data are ready: latency, coding, rest of a
                            ///< reduction
  };

  /// Workers fill nodes in rank order; a dedicated server has a node of its own. `profile` may go away. Within a domain
  /// `together` workers, which follow each other, talk among themselves; 0: all that are there.
  Network(const Profile& profile, const World& world, int together = 0);

  /// Forgets all traffic.
  void reset();
  const RankLayout& layout() const { return layout_; }
  const World& world() const { return world_; }
  bool is_local(Rank src, Rank dst) const { return layout_.node[src] == layout_.node[dst]; }

  /// Returns a message of `elements` elements, inside a node or across.
  Message message(bool local, TransferKind kind, std::int64_t elements, const Encoding& encoding) const;
  /// When the links have passed a message that its sender holds from `start` on.
  double pass_links(Rank src, Rank dst, const Message& message, double start);
  /// When the server has passed what it can begin to handle at `start`; `start` where no server handles it. A push is
  /// handled by the server that receives it, a pull by the one that sends it, and what stays within a group by none.
  double pass_server(Rank src, Rank dst, TransferKind kind, double work, double start);

 private:
  friend class SimulatedCollective;
  /// What a message between two ranks meets, inside a node or across: rates as seconds per byte.
  struct Hop {
    double latency;
    double low_latency;  ///< 0: no such protocol
    double link;         ///< of a rank's link inside a node, of all NICs of a node together
    double streams;      ///< of the streams between two ranks; 0 where the links are slower than these
  };
  /// Between domains, of which each sends with the NICs of `nodes` nodes.
  static Hop remote_hop(const Profile& profile, int nodes);
  /// The streams from one rank to another.
  struct Streams {
    Rank to;
    double free_at;
  };
  /// A queue begins when it is free, and is free again when all has passed.
  static double pass(double& free_at, double start, double duration) {
    free_at = std::max(free_at, start) + duration;
    return free_at;
  }
  double& streams_free_at(Rank from, Rank to);

  World world_;
  double memory_seconds_per_byte_;
  double server_seconds_per_byte_;
  Hop local_, remote_;
  RankLayout layout_;
  std::vector<int> server_;                    ///< by rank: its queue in `servers_free_at_`; -1 where it is none
  std::vector<double> link_out_, link_in_;     ///< by lane: when its link inside the node is free
  std::vector<double> nic_out_, nic_in_;       ///< by node
  std::vector<double> servers_free_at_;        ///< by rank that serves, in order
  std::vector<Rank> first_streams_to_;         ///< by lane of the sender: the first rank that it has sent to, or -1
  std::vector<double> first_streams_free_at_;  ///< by lane of the sender: of the streams to that rank
  std::vector<std::vector<Streams>> streams_;  ///< by lane of the sender: to others
  std::vector<std::size_t> last_streams_;      ///< by lane of the sender: where the last look-up ended
};

/// The messages of one encoding on a network. Keeps the last of each kind: schedules send many of one size. `network`
/// outlives it.
class Messages {
 public:
  Messages(const Network& network, const Encoding& encoding) : network_(&network), encoding_(encoding) {}

  /// As `Network::message`; valid until the next call.
  const Network::Message& of(bool local, TransferKind kind, std::int64_t elements) {
    Known& known = known_[(local ? 2 : 0) + (kind == TransferKind::reduce ? 1 : 0)];
    if (known.elements != elements) known = {elements, network_->message(local, kind, elements, encoding_)};
    return known.message;
  }
  const Encoding& encoding() const { return encoding_; }

 private:
  struct Known {
    std::int64_t elements = -1;
    Network::Message message;
  };

  const Network* network_;
  Encoding encoding_;
  std::array<Known, 4> known_;  ///< local or not, reduce or copy
};

}  // namespace hbench
