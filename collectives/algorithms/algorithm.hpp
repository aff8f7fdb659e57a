#pragma once

/// The family of algorithms: all-reduces, and the reduce-scatters, all-gathers and broadcasts they are made of.
///
/// One algorithm is one file that defines one constant and is listed in `algorithms.cpp`. What an entry
/// declares (worlds, rounds, bytes) is tested for every entry against what its schedules really do.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/placement/placement.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// A buffer in chunks, as an algorithm's declared traffic sees it: sizes, and nothing of who sends what. A view of
/// ascending offsets that outlive it.
class Cut {
 public:
  /// `offsets` as in `Schedule`: one more than there are chunks.
  explicit Cut(std::span<const std::int64_t> offsets) : Cut(offsets.data(), static_cast<int>(offsets.size()) - 1, 1) {}

  int chunks() const { return chunks_; }
  /// Elements of `count` chunks from `first`.
  std::int64_t size(int first, int count = 1) const { return begin_of(first + count) - begin_of(first); }
  std::int64_t total() const { return size(0, chunks_); }
  /// `count` chunks, each of `width` chunks of this one, from chunk `first` on: what a schedule inside a larger one
  /// sees.
  Cut part(int first, int count, int width = 1) const {
    return {offsets_ + static_cast<std::ptrdiff_t>(first) * stride_, count, stride_ * width};
  }

 private:
  Cut(const std::int64_t* offsets, int chunks, int stride) : offsets_(offsets), chunks_(chunks), stride_(stride) {}
  std::int64_t begin_of(int chunk) const { return offsets_[static_cast<std::ptrdiff_t>(chunk) * stride_]; }

  const std::int64_t* offsets_;
  int chunks_;
  int stride_;
};

/// Elements that one rank sends and receives.
struct Traffic {
  std::int64_t sent = 0;
  std::int64_t received = 0;

  friend Traffic operator+(const Traffic& a, const Traffic& b) { return {a.sent + b.sent, a.received + b.received}; }
  /// Of the reversed schedule.
  Traffic reversed() const { return {received, sent}; }
};

/// What is known of a schedule before it is built.
struct Shape {
  int chunks = 1;
  int rounds = 0;
  std::int64_t transfers = 0;
  /// The most runs that it can have, which is what the simulator keeps of it; 0: nothing better than `transfers` is
  /// known.
  std::int64_t runs = 0;
  int parts = 1;         ///< as in `RunSchedule`
  bool carried = false;  ///< a chunk that is less than a part is always sent on by the rank that got it last
  bool ranges = false;   ///< several chunks at a time are sent that are less than a part

  std::int64_t most_runs() const { return runs > 0 ? runs : transfers; }
};

/// Rounds and elements of a schedule, for a buffer that it splits evenly.
struct Cost {
  int rounds = 0;
  std::int64_t sent = 0;      ///< elements sent by the busiest rank
  std::int64_t received = 0;  ///< elements received by the busiest rank

  friend bool operator==(const Cost&, const Cost&) = default;
};

/// What a schedule is asked for.
struct ScheduleRequest {
  World world;
  /// Into how many pieces a pipelined algorithm cuts what it sends; the others ignore it.
  int segments = 1;
  /// Complete, as `AlgorithmChoice::parameters`.
  std::string_view parameters = {};
  /// They cover the buffer in order and name their servers; empty means an even split. Algorithms without servers
  /// ignore them.
  std::span<const Shard> shards = {};
};

/// One entry of the family. Names are unique for each collective.
struct Algorithm {
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
  CollectiveKind collective = CollectiveKind::all_reduce;
  /// Names and defaults of text parameters, separated by colons (`inner:outer`); empty when there are none.
  std::string_view fields = {};
  std::string_view defaults = {};
  /// Needs `World::servers` >= 1; the others need 0.
  bool uses_servers = false;
  /// `World::group` is the number of consecutive ranks that share a node; the others ignore it.
  bool uses_groups = false;
  /// Many buckets may be in flight at once (every tensor is its own request to a server); otherwise
  /// buckets follow each other on one stream, as with Horovod and NCCL. Each transfer carries one chunk then.
  bool concurrent = false;
  /// Why `world` is not possible, or empty when it is.
  std::string (*refuses)(const World& world);
  /// The schedule. Null for a vendor collective: there is no schedule to prove or to simulate, only a library call.
  Schedule (*build)(const ScheduleRequest& request);
  /// Chunks, rounds and transfers of the schedule, without building it: large worlds have billions of transfers. Null
  /// exactly where `build` is null; so is `traffic`, which is for an even split (`shards` is empty) and groups of one
  /// worker.
  Shape (*shape)(const ScheduleRequest& request);
  /// What `rank` sends and receives, for a buffer in `shape(request).chunks` chunks: in closed form, or by adding up
  /// chunk sizes, but never by looking at transfers.
  Traffic (*traffic)(const ScheduleRequest& request, const Cut& cut, Rank rank);
  /// A good number of segments for a buffer of `bytes` per rank; null where nothing is pipelined.
  int (*segments)(const World& world, std::int64_t bytes) = nullptr;
  /// \throws Error (usage) when parameters make no sense; null where there are none.
  void (*check_parameters)(std::string_view parameters) = nullptr;
  /// The entries that an all-reduce is made of, where it is a reduce-scatter and then an all-gather of the same parts;
  /// a hierarchy uses them apart.
  const Algorithm* reduce_scatter = nullptr;
  const Algorithm* all_gather = nullptr;
  /// The same schedule as runs, for those that are too large to be written out in large worlds; `build` is this,
  /// written out. Null: the runs are found in what `build` gives.
  RunSchedule (*build_runs)(const ScheduleRequest& request) = nullptr;
  /// Whether anything is cut into segments with these parameters; null: wherever there is `segments`.
  bool (*pipelined)(std::string_view parameters) = nullptr;

  bool is_vendor() const { return build == nullptr; }
  /// The declared cost for an even split of `elements`. \pre not a vendor collective.
  Cost cost(const ScheduleRequest& request, std::int64_t elements) const;
  /// The schedule as runs. \pre not a vendor collective.
  RunSchedule runs(const ScheduleRequest& request) const;
};

/// The table, in the order in which `hbench list algorithms` prints it.
std::span<const Algorithm* const> algorithms();

/// The entries of one collective, in table order.
std::vector<const Algorithm*> algorithms_for(CollectiveKind collective);

/// An algorithm with its parameters.
struct AlgorithmChoice {
  const Algorithm* algorithm = nullptr;
  std::string parameters;  ///< complete, defaults filled in; empty when there are none

  /// `ring`, `hierarchical:direct:ring`.
  std::string text() const;
  /// What `Algorithm::segments` says for a buffer of `bytes`; 1 where nothing is pipelined.
  int segments(const World& world, std::int64_t bytes) const;
  /// Returns the schedule of `world` with `segments` segments. \pre not a vendor collective; the world is not refused.
  Schedule build(const World& world, int segments, std::span<const Shard> shards = {}) const;
  /// The same as runs, without writing it out where the algorithm can.
  RunSchedule runs(const World& world, int segments, std::span<const Shard> shards = {}) const;
};

/// `name` or `name:parameters`. \throws Error (usage), with a suggestion.
AlgorithmChoice parse_algorithm(std::string_view text, CollectiveKind collective = CollectiveKind::all_reduce);

/// The entry of the same name for another collective, with the same parameters where it has them; none where there is
/// none.
std::optional<AlgorithmChoice> same_named(const AlgorithmChoice& algorithm, CollectiveKind collective);

/// What carries `collective` where `all_reduce` carries all-reduces: itself, the entry of the same name, or one that it
/// is made of; none where there is none.
std::optional<AlgorithmChoice> part_of(const AlgorithmChoice& all_reduce, CollectiveKind collective);

/// `all-reduce`, `reduce-scatter`, ...
std::string_view to_string(CollectiveKind collective);
/// \throws Error (usage), with a suggestion.
CollectiveKind parse_collective_kind(std::string_view text);

/// Which all-reduce serves which message size: `ring`, or `recursive-doubling@16KiB/halving-doubling@1MiB/ring`.
/// What `auto` resolves to, and what a user may write.
class AlgorithmRule {
 public:
  AlgorithmRule() = default;
  explicit AlgorithmRule(AlgorithmChoice only) : ranges_{{.choice = std::move(only)}} {}

  bool empty() const { return ranges_.empty(); }
  /// The algorithm for a buffer of `bytes`. \pre not empty.
  const AlgorithmChoice& at(std::int64_t bytes) const;
  /// All of them, from small buffers to large ones.
  std::vector<AlgorithmChoice> choices() const {
    std::vector<AlgorithmChoice> all;
    for (const Range& range : ranges_) all.push_back(range.choice);
    return all;
  }
  /// Of the one algorithm; a rule of several has no servers and no concurrent algorithm or vendor collective in it.
  bool uses_servers() const { return !empty() && ranges_.front().choice.algorithm->uses_servers; }
  bool uses_groups() const;
  bool concurrent() const { return !empty() && ranges_.front().choice.algorithm->concurrent; }
  bool is_vendor() const { return !empty() && ranges_.front().choice.algorithm->is_vendor(); }
  /// Why `world` is not possible, or empty when it is.
  std::string refuses(const World& world) const;
  /// The canonical text.
  std::string text() const;

  friend AlgorithmRule parse_algorithm_rule(std::string_view text);

 private:
  struct Range {
    std::int64_t below = INT64_MAX;  ///< bytes; the last range has no end
    AlgorithmChoice choice;
  };
  std::vector<Range> ranges_;
};

/// \throws Error (usage).
AlgorithmRule parse_algorithm_rule(std::string_view text);

}  // namespace hbench
