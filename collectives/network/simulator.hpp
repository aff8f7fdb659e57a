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
#include "collectives/network/rank_layout.hpp"
#include "collectives/network/ready_times.hpp"
#include "collectives/network/simulation_plan.hpp"
#include "collectives/network/stop.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// How long a server of this world is busy for each byte that is pushed to it or pulled from it; 0: no time.
double server_seconds_per_byte(const Profile& profile, const World& world);

/// The queues of one cluster for one world. Keeps what earlier transfers left behind, so collectives that are
/// in flight together slow each other. Not thread-safe.
class Network {
 public:
  /// Workers fill nodes in rank order; a dedicated server has a node of its own. `profile` may go away.
  Network(const Profile& profile, const World& world);

  /// Forgets all traffic.
  void reset();
  const RankLayout& layout() const { return layout_; }

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

/// One schedule on its way through a `Network`, round by round, so that a caller can interleave several in
/// the order of time. `plan` and `network`, whose layout the plan is of, outlive it.
class SimulatedCollective {
 public:
  SimulatedCollective(Network& network, const SimulationPlan& plan, const Encoding& encoding, std::int64_t elements,
                      Seconds start);

  bool done() const { return next_ == plan_->runs().size(); }
  /// When the first transfer of the next round can begin. Valid while not `done`.
  Seconds next_round() const;
  /// Sends the transfers of the next round.
  void advance();
  /// When `rank` holds all of its final data. Valid when `done`.
  Seconds finish(Rank rank) const { return Seconds(ready_.of_all(rank)); }
  /// The last worker's `finish`.
  Seconds finish() const;

 private:
  /// The last message of its kind: schedules send many of one size.
  struct Known {
    std::int64_t elements = -1;
    Network::Message message{};
  };
  /// `count` transfers of equal size between like GPUs of successive nodes: `first`, and those that are `stride` and
  /// its multiples further on in the run.
  struct Lockstep {
    Transfer first;
    int src_stride, dst_stride, chunk_stride;
    int count;
  };
  /// The next round is the runs from `next_` up to this one.
  std::size_t round_end() const;
  std::int64_t elements_of(const Transfer& transfer) const;
  /// `whole` as in `PlannedRun`.
  double arrival(const Transfer& transfer, bool whole);
  /// The transfers of one of the run's groups from `index` on that are of one size.
  Lockstep next_lockstep(const PlannedRun& planned, int index) const;
  void arrivals_of(const Lockstep& step, double* arrivals);
  void arrivals_one_by_one(const Lockstep& step, double* arrivals);
  /// Whether all senders of `step` have sent to nobody else before them, or to their receivers first.
  bool claim_streams(const Lockstep& step);
  /// Notes that what `planned` sends has arrived, in the order of `arrivals`; returns the end of its own.
  const double* hold(const PlannedRun& planned, const double* arrivals);
  const Network::Message& message(bool local, TransferKind kind, std::int64_t elements);

  Network* network_;
  const SimulationPlan* plan_;
  Encoding encoding_;
  std::size_t next_ = 0;
  ReadyTimes ready_;
  std::vector<std::int64_t> chunk_begin_;  ///< by chunk, in elements; one more for the end
  std::vector<double> arrivals_;           ///< of the round in hand; groups of a run one after the other
  std::array<Known, 4> known_;             ///< local or not, reduce or copy
};

/// The time of one collective on an idle network. Asks `stop` before every round. \throws as `stop_if`.
Seconds simulate(Network& network, const SimulationPlan& plan, const Encoding& encoding, std::int64_t elements,
                 const StopRequested& stop = {});
/// The same for a schedule that is simulated once.
Seconds simulate(Network& network, const Schedule& schedule, const Encoding& encoding, std::int64_t elements,
                 const StopRequested& stop = {});

}  // namespace hbench
