#pragma once

/// The network in virtual time.
///
/// A transfer waits for its data (the chunk's last write at the sender), then passes every resource on
/// its way: sender's and receiver's link inside a node, or the NICs of both nodes, and the parameter server
/// that handles it. Each resource is a first-come-first-served queue with a rate; the transfer has arrived
/// when the slowest of them has passed it, plus the latency. Where streams between two ranks are slower than the
/// NICs (one TCP connection, say), they are a queue of their own.
/// For one uncontended schedule this gives the closed forms of the literature exactly.

#include <array>
#include <cstdint>
#include <vector>

#include "collectives/compressors/compressor.hpp"
#include "collectives/network/profile.hpp"
#include "collectives/network/stop.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// The queues of one cluster for one world. Keeps what earlier transfers left behind, so collectives that are
/// in flight together slow each other. Not thread-safe.
class Network {
 public:
  /// Workers fill nodes in rank order; a dedicated server has a node of its own. `profile` may go away.
  Network(const Profile& profile, const World& world);

  /// Forgets all traffic.
  void reset();

 private:
  friend class SimulatedCollective;
  /// What a message between two ranks meets, inside a node or across: rates as seconds per byte.
  struct Hop {
    double latency;
    double low_latency;  ///< 0: no such protocol
    double link;         ///< of a rank's link inside a node, of all NICs of a node together
    double streams;      ///< of the streams between two ranks; 0 where the links are slower than these
  };
  /// For how long one message occupies each resource on its way; the same for all senders, as all links of a kind are
  /// alike.
  struct Message {
    double link;
    double streams;  ///< 0: they are no bottleneck
    double server;
    double
        afterwards;  ///< from the last byte's departure until the data are ready: latency, coding, rest of a reduction
  };
  /// The streams from one rank to another.
  struct Streams {
    Rank to;
    double free_at;
  };
  Message message(bool local, TransferKind kind, std::int64_t elements, const Encoding& encoding) const;
  double& streams_free_at(Rank from, Rank to);

  World world_;
  double memory_seconds_per_byte_;
  double server_seconds_per_byte_;
  Hop local_, remote_;
  std::vector<int> node_;                      ///< by rank
  std::vector<int> server_;                    ///< by rank: its queue in `servers_free_at_`; -1 where it is none
  std::vector<double> link_out_, link_in_;     ///< by rank: when its link inside the node is free
  std::vector<double> nic_out_, nic_in_;       ///< by node
  std::vector<double> servers_free_at_;        ///< by rank that serves, in order
  std::vector<std::vector<Streams>> streams_;  ///< by sender, where streams are the bottleneck
  std::vector<std::size_t> last_streams_;      ///< by sender: where the last look-up ended; the next is near
};

/// One schedule on its way through a `Network`, round by round, so that a caller can interleave several in
/// the order of time. `schedule` and `network` outlive it.
class SimulatedCollective {
 public:
  SimulatedCollective(Network& network, const Schedule& schedule, const Encoding& encoding, std::int64_t elements,
                      Seconds start);

  bool done() const { return next_ == schedule_->transfers.size(); }
  /// When the first transfer of the next round can begin. Valid while not `done`.
  Seconds next_round() const;
  /// Sends the transfers of the next round.
  void advance();
  /// When `rank` holds all of its final data. Valid when `done`.
  Seconds finish(Rank rank) const { return Seconds(finish_[rank]); }
  /// The last worker's `finish`.
  Seconds finish() const;

 private:
  /// The last message of its kind: schedules send many of one size.
  struct Known {
    std::int64_t elements = -1;
    Network::Message message{};
  };
  std::size_t slot(Rank rank, int chunk) const { return static_cast<std::size_t>(rank) * chunks_ + chunk; }
  double data_ready(const Transfer& transfer) const;
  double arrival(const Transfer& transfer);
  const Network::Message& message(bool local, TransferKind kind, std::int64_t elements);

  Network* network_;
  const Schedule* schedule_;
  Encoding encoding_;
  std::size_t chunks_;
  std::size_t next_ = 0;
  std::vector<double> ready_;              ///< by rank and chunk
  std::vector<double> finish_;             ///< by rank: its latest `ready_`
  std::vector<std::int64_t> chunk_begin_;  ///< by chunk, in elements; one more for the end
  std::vector<double> arrivals_;           ///< of the round in hand
  std::array<Known, 4> known_;             ///< local or not, reduce or copy
};

/// The time of one collective on an idle network. Asks `stop` before every round. \throws as `stop_if`.
Seconds simulate(Network& network, const Schedule& schedule, const Encoding& encoding, std::int64_t elements,
                 const StopRequested& stop = {});

}  // namespace hbench
