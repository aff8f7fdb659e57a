#pragma once

/// The network in virtual time.
///
/// A transfer waits for its data (the chunk's last write at the sender), then passes every resource on
/// its way through a `Network`. It has arrived when the slowest of its resources has passed it, plus the latency.
/// For one uncontended schedule this gives the closed forms of the literature exactly.

#include <cstdint>
#include <vector>

#include "collectives/compressors/compressor.hpp"
#include "collectives/network/network.hpp"
#include "collectives/network/ready_times.hpp"
#include "collectives/network/simulation_plan.hpp"
#include "collectives/network/stop.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// One schedule on its way through a `Network`, round by round, each message whole. No server handles messages here:
/// `ConcurrentCollectives` is for worlds that have some. `plan` and `network`, whose layout the plan is of, outlive it.
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

  Network* network_;
  const SimulationPlan* plan_;
  Messages messages_;
  std::size_t next_ = 0;
  ReadyTimes ready_;
  std::vector<std::int64_t> chunk_begin_;  ///< by chunk, in elements; one more for the end
  std::vector<double> arrivals_;           ///< of the round in hand; groups of a run one after the other
};

/// The time of one collective on an idle network. Asks `stop` before every round, or message of a server. \throws as
/// `stop_if`.
Seconds simulate(Network& network, const SimulationPlan& plan, const Encoding& encoding, std::int64_t elements,
                 const StopRequested& stop = {});
/// The same for a schedule that is simulated once.
Seconds simulate(Network& network, const Schedule& schedule, const Encoding& encoding, std::int64_t elements,
                 const StopRequested& stop = {});

}  // namespace hbench
