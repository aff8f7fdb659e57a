#pragma once

#include <algorithm>
#include <vector>

#include "collectives/network/simulation_plan.hpp"

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

}  // namespace hbench
