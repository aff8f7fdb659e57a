#pragma once

/// The network in virtual time.
///
/// A transfer waits for its data (the chunk's last write at the sender), then passes every resource on
/// its way: sender's and receiver's link inside a node, or the NICs of both nodes, and the parameter server
/// that handles it. Each resource is a first-come-first-served queue with a rate; the transfer has arrived
/// when the slowest of them has passed it, plus the latency. Where streams between two ranks are slower than the
/// NICs (one TCP connection, say), they are a queue of their own.
/// For one uncontended schedule this gives the closed forms of the literature exactly.

#include <cstdint>
#include <vector>

#include "collectives/compressors/compressor.hpp"
#include "collectives/network/profile.hpp"
#include "collectives/schedule.hpp"

namespace hbench {

/// The queues of one cluster for one world. Keeps what earlier transfers left behind, so collectives that are
/// under way together slow each other. Not thread-safe.
class Network {
 public:
  /// Workers fill nodes in rank order; a dedicated server has a node of its own. `profile` may go away.
  Network(const Profile& profile, const World& world);

  /// Forgets all traffic.
  void reset();

 private:
  friend class SimulatedCollective;
  /// What a message between two ranks meets, inside a node or across.
  struct Hop {
    double latency;
    double low_latency;       ///< 0: no such protocol
    double seconds_per_byte;  ///< between two ranks, whatever else their NICs carry
    bool own_queue;           ///< the two ranks' streams are slower than the NICs
  };
  /// The streams from one rank to another.
  struct Streams {
    Rank to;
    double free_at;
  };
  double pass(int resource, double start, double bytes);
  double& streams_free_at(Rank from, Rank to);

  World world_;
  double reduce_seconds_per_byte_;
  double memory_seconds_per_byte_;
  Hop local_, remote_;
  std::vector<int> node_;                 ///< by rank
  std::vector<int> server_resource_;      ///< by rank; -1 where it serves nothing
  std::vector<double> seconds_per_byte_;  ///< by resource
  std::vector<double> free_at_;           ///< by resource
  int nodes_ = 0;
  std::vector<std::vector<Streams>> streams_;  ///< by sender, where streams are the bottleneck
  std::vector<std::size_t> last_streams_;      ///< by sender: where the last look-up ended; the next is near

  int local_out(Rank rank) const { return 2 * rank; }
  int local_in(Rank rank) const { return 2 * rank + 1; }
  int nic_out(int node) const { return 2 * world_.ranks() + 2 * node; }
  int nic_in(int node) const { return nic_out(node) + 1; }
};

/// One schedule on its way through a `Network`, round by round, so that a caller can interleave several in
/// the order of time. `schedule` and `network` outlive it.
class SimulatedCollective {
 public:
  SimulatedCollective(Network& network, const Schedule& schedule, const Compressor& compressor, std::int64_t elements,
                      Seconds start);

  bool done() const { return next_ == schedule_->transfers.size(); }
  /// When the first transfer of the next round can begin. Valid while not `done`.
  Seconds next_round() const;
  /// Sends the transfers of the next round.
  void advance();
  /// When `rank` holds all of its final data. Valid when `done`.
  Seconds finish(Rank rank) const;
  /// The last worker's `finish`.
  Seconds finish() const;

 private:
  double ready(Rank rank, int chunk) const { return ready_[static_cast<std::size_t>(rank) * chunks_ + chunk]; }
  double data_ready(const Transfer& transfer) const;
  double arrival(const Transfer& transfer);
  std::size_t round_end() const;

  Network* network_;
  const Schedule* schedule_;
  const Compressor* compressor_;
  std::size_t chunks_;
  std::size_t next_ = 0;
  std::vector<double> ready_;                 ///< by rank and chunk
  std::vector<std::int64_t> chunk_elements_;  ///< by chunk
  std::vector<double> arrivals_;              ///< of the round in hand
};

/// The time of one collective on an idle network.
Seconds simulate(Network& network, const Schedule& schedule, const Compressor& compressor, std::int64_t elements);

}  // namespace hbench
