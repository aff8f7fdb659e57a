#pragma once

/// The network in virtual time.
///
/// A transfer waits for its data (the chunk's last write at the sender), then passes every resource on
/// its way through a `Network`. It has arrived when the slowest of its resources has passed it, plus the latency.
/// For one uncontended schedule this gives the closed forms of the literature exactly.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collectives/compressors/compressor.hpp"
#include "collectives/network/network.hpp"
#include "collectives/network/simulation_plan.hpp"
#include "collectives/network/stop.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// When each rank holds what of the buffer: the latest arrival of each chunk. It keeps one time for each part that is
/// only ever sent as a whole. Of a rank's own part it keeps one for each run of chunks that arrived together; where
/// chunks are carried (`ChunkLayout`), one for each chunk, which is at one rank at a time. `layout` and `plan` outlive
/// it.
class ReadyTimes {
 public:
  ReadyTimes(const RankLayout& layout, const SimulationPlan& plan, double start)
      : layout_(&layout),
        chunks_(&plan.chunks()),
        lanes_(static_cast<std::size_t>(layout.lanes)),
        parts_(lanes_ * static_cast<std::size_t>(chunks_->parts), start),
        whole_(chunks_->kept == Kept::parts ? 0 : lanes_, start) {
    const auto width = static_cast<std::size_t>(chunks_->width);
    if (chunks_->kept == Kept::runs) pieces_.assign(lanes_, {{0, start}});
    if (chunks_->kept == Kept::chunks) fine_.assign(chunks_->chunk_0.size() * width, start);
    if (chunks_->kept == Kept::carried) fine_.assign(chunks_->carried_places(), start);
  }

  /// When `rank` holds all of `count` chunks from `first`. `whole` says that these are whole parts, as
  /// `PlannedRun::whole`.
  double of(Rank rank, int first, int count, bool whole) const {
    if (whole) return of_parts(rank, first, count);
    double latest = whole_[layout_->lane[rank]];
    if (chunks_->kept == Kept::runs) return std::max(latest, of_pieces(rank, first, count));
    for (int chunk = first; chunk < first + count; ++chunk) latest = std::max(latest, fine_[fine_at(rank, chunk)]);
    return latest;
  }

  void arrive(Rank rank, int first, int count, bool whole, double time) {
    if (whole) return arrive_parts(rank, first, count, time);
    raise(parts_[chunks_->own_part[rank]], time);
    if (chunks_->kept == Kept::runs) return arrive_pieces(rank, first, count, time);
    for (int chunk = first; chunk < first + count; ++chunk) raise(fine_[fine_at(rank, chunk)], time);
  }

  /// When `rank` holds everything that it has been sent.
  double of_all(Rank rank) const { return of_parts(rank, 0, chunks_->parts * chunks_->width); }

  /// For loops over like GPUs of successive nodes, each with the chunk that is `stride` further on: the time of the
  /// first chunk, with those of the next ones behind it. \pre chunks are carried.
  double* carried_from(int chunk) { return &fine_[chunks_->carried_place(chunk)]; }
  /// The same for messages to those GPUs that were a whole part.
  const double* whole_from(Rank rank) const { return &whole_[layout_->lane[rank]]; }
  /// The same for the latest time of anything in the own part.
  double* part_from(Rank rank) { return &parts_[chunks_->own_part[rank]]; }

 private:
  /// The chunks from `begin` up to the next piece.
  struct Piece {
    int begin;
    double time;
  };
  static std::vector<Piece>::const_iterator holding(const std::vector<Piece>& pieces, int chunk) {
    return std::ranges::upper_bound(pieces, chunk, {}, &Piece::begin) - 1;
  }
  void cut(std::vector<Piece>& pieces, int chunk) const {
    const auto piece = holding(pieces, chunk);
    if (chunk < chunks_->width && piece->begin != chunk) pieces.insert(piece + 1, {chunk, piece->time});
  }
  static void raise(double& ready, double time) { ready = std::max(ready, time); }

  double of_parts(Rank rank, int first, int count) const {
    double latest = 0;
    const int begin = first / chunks_->width, end = begin + count / chunks_->width;
    for (int part = begin; part < end; ++part) latest = std::max(latest, parts_[part_at(rank, part)]);
    return latest;
  }
  void arrive_parts(Rank rank, int first, int count, double time) {
    const int begin = first / chunks_->width, end = begin + count / chunks_->width;
    for (int part = begin; part < end; ++part) {
      raise(parts_[part_at(rank, part)], time);
      if (chunks_->kept != Kept::parts && part_at(rank, part) == chunks_->own_part[rank])
        raise(whole_[layout_->lane[rank]], time);
    }
  }

  double of_pieces(Rank rank, int first, int count) const {
    const std::vector<Piece>& pieces = pieces_[layout_->lane[rank]];
    const int begin = first - chunks_->own_begin[rank];
    double latest = 0;
    for (auto piece = holding(pieces, begin); piece != pieces.end() && piece->begin < begin + count; ++piece)
      latest = std::max(latest, piece->time);
    return latest;
  }
  void arrive_pieces(Rank rank, int first, int count, double time) {
    std::vector<Piece>& pieces = pieces_[layout_->lane[rank]];
    const int begin = first - chunks_->own_begin[rank];
    cut(pieces, begin + count);
    cut(pieces, begin);
    for (auto piece = pieces.begin() + (holding(pieces, begin) - pieces.cbegin());
         piece != pieces.end() && piece->begin < begin + count; ++piece)
      raise(piece->time, time);
  }

  std::size_t part_at(Rank rank, int part) const {
    return static_cast<std::size_t>(part) * lanes_ + layout_->lane[rank];
  }
  std::size_t fine_at(Rank rank, int chunk) const {
    if (chunks_->kept == Kept::carried) return chunks_->carried_place(chunk);
    return chunks_->chunk_0[rank] + static_cast<std::size_t>(chunk);
  }

  const RankLayout* layout_;
  const ChunkLayout* chunks_;
  std::size_t lanes_;
  std::vector<double> parts_;               ///< by part and lane: the latest arrival of anything in it
  std::vector<double> whole_;               ///< by lane: the latest arrival of its own part as a whole
  std::vector<double> fine_;                ///< by rank and chunk of its own part, or by `carried_place`
  std::vector<std::vector<Piece>> pieces_;  ///< by lane: of the own part
};

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
