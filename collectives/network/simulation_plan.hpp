#pragma once

/// A schedule prepared for the simulator: what can be found out once, for buffers of every size.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/network/rank_layout.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// For what there is a time of its own, when it arrived, at every rank.
enum class Kept : std::uint8_t {
  parts,    ///< nothing smaller than a part is ever sent
  runs,     ///< for each run of chunks of the rank's own part: halving and doubling make few of them
  chunks,   ///< for each chunk of the rank's own part
  carried,  ///< for each chunk, but once for all ranks: each is always sent on by the rank that got it last
};

/// How the simulator keeps what ranks hold. It gives the times that one for every rank and chunk would give:
/// - What of a part is never sent apart has one time.
/// - A chunk that is always sent on by the rank that got it last goes one way. It arrives ever later on it, so that its
///   last arrival is the only one that counts.
struct ChunkLayout {
  int parts = 1;  ///< as in `RunSchedule`, where that holds; otherwise 1
  int width = 1;  ///< chunks of a part
  Kept kept = Kept::parts;
  std::vector<std::size_t> own_part;  ///< by rank: where the latest time of its own part is kept
  std::vector<std::size_t> chunk_0;   ///< by rank, of `Kept::chunks`: where chunk 0 would be kept, modulo 2^64
  std::vector<int> own_begin;         ///< by rank: the first chunk of its own part
  /// What lies between the chunks of successive nodes in a run, which are kept side by side; 0: in order.
  int stride = 0;

  std::size_t carried_places() const { return static_cast<std::size_t>(rows()) * std::max(1, stride); }
  std::size_t carried_place(int chunk) const {
    if (stride <= 1) return static_cast<std::size_t>(chunk);
    return static_cast<std::size_t>(chunk % stride) * rows() + static_cast<std::size_t>(chunk / stride);
  }

 private:
  std::size_t rows() const {
    return static_cast<std::size_t>((parts * width + std::max(1, stride) - 1) / std::max(1, stride));
  }
};

/// A run, and how it can be taken.
struct PlannedRun {
  TransferRun run;
  bool whole = false;  ///< sends whole parts
  /// 0: transfer by transfer. Otherwise transfers i, i + groups, i + 2 groups ... are between like GPUs of successive
  /// nodes, carry one chunk each, and meet no queue that another transfer of the run meets, for every i < groups.
  int groups = 0;
};

/// How much a plan leaves out.
enum class PlanDetail : std::uint8_t {
  least,  ///< whatever the schedule allows; the times are the same
  full,   ///< nothing: a time for every rank and chunk, transfer by transfer. What tests compare with.
};

/// Immutable. Valid for every network of the same layout.
class SimulationPlan {
 public:
  SimulationPlan(const RankLayout& layout, const RunSchedule& schedule, PlanDetail detail = PlanDetail::least);

  const World& world() const { return world_; }
  const std::vector<PlannedRun>& runs() const { return runs_; }
  const ChunkLayout& chunks() const { return chunks_; }
  /// Where the chunks of a buffer of `elements` begin; one more for the end.
  std::vector<std::int64_t> chunk_begin(std::int64_t elements) const;
  /// Elements of a buffer of `elements`, counted transfer by transfer.
  Moved moved(const RankLayout& layout, std::int64_t elements) const;

 private:
  PlannedRun planned(const RankLayout& layout, const RunSchedule& schedule, const TransferRun& run);

  World world_;
  Schedule cut_;  ///< without transfers: only how buffers are cut
  std::vector<PlannedRun> runs_;
  ChunkLayout chunks_;
};

/// Plans that are asked for again and again, each made once: of collectives among all ranks, or within groups of ranks
/// at once. Not thread-safe.
class SimulationPlans {
 public:
  /// \pre the world is a multiple of `RankGroups::unit`
  SimulationPlans(RankLayout layout, const World& world, const RankGroups& groups = {})
      : layout_(std::move(layout)), world_(world), groups_(groups) {}

  /// Lives until the next call: with many runs in it, it forgets all plans before it makes another one.
  const SimulationPlan& of(const AlgorithmChoice& algorithm, int segments);

 private:
  using Key = std::tuple<const Algorithm*, std::string, int>;
  RankLayout layout_;
  World world_;
  RankGroups groups_;
  std::size_t kept_ = 0;  ///< runs
  std::map<Key, SimulationPlan> made_;
};

/// About how much memory a plan of this shape takes: what is kept of a schedule, and what of it is made on the way
/// (transfers and runs, then runs and a plan).
std::int64_t bytes_of_plan(const Algorithm& algorithm, const Shape& shape);
/// The same of when each rank holds what, as `ReadyTimes` keeps it: of halving and doubling two ends of what each
/// message brings.
std::int64_t bytes_of_times(const World& world, const Shape& shape);

}  // namespace hbench
