#include <algorithm>
#include <bit>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {
namespace {

/// A world of any size for algorithms that double: a power of two of its ranks, the core, does the work, and each rank
/// beyond gives its data to a neighbour and gets the result back. The first `2 * extras` ranks are the pairs, the even
/// one of each is extra (Thakur, Rabenseifner and Gropp 2005): core members' parts stay side by side, and
/// pairs share a node where nodes hold an even number.
class Fold {
 public:
  explicit Fold(int ranks)
      : core_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))), extras_(ranks - core_) {}

  /// Members of the core; a power of two.
  int core() const { return core_; }
  int extras() const { return extras_; }
  /// lg core
  int steps() const { return std::countr_zero(static_cast<unsigned>(core_)); }

  Rank rank_of(int member) const { return member < extras_ ? 2 * member + 1 : member + extras_; }
  /// The extra rank of pair `pair`.
  Rank extra(int pair) const { return 2 * pair; }
  bool is_extra(Rank rank) const { return rank < 2 * extras_ && rank % 2 == 0; }
  /// \pre not extra.
  int member_of(Rank rank) const { return rank < 2 * extras_ ? rank / 2 : rank - extras_; }
  /// The first part of `member`; it ends where the next one begins. Pairs have two parts, the others one.
  int first_part(int member) const { return member < extras_ ? 2 * member : member + extras_; }

  std::vector<Rank> ranks() const {
    std::vector<Rank> all;
    for (int member = 0; member < core_; ++member) all.push_back(rank_of(member));
    return all;
  }

 private:
  int core_;
  int extras_;
};

/// Rounds before and after those of the core.
inline int folding_rounds(const Fold& fold) { return fold.extras() > 0 ? 1 : 0; }

constexpr std::string_view kCitation =
    "Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, Int. J. High "
    "Perform. Comput. Appl. 19(1), 2005";

/// Every member of the core sends in every step.
std::int64_t doubling_transfers(const Fold& fold) { return std::int64_t{fold.core()} * fold.steps(); }

/// Where extra ranks hand over everything first and get everything back last: `core`, of the core's members and any
/// number of chunks, becomes an all-reduce of `world`.
Schedule folded_all_reduce(const World& world, const Schedule& core) {
  const Fold fold(world.workers);
  Schedule whole = empty_schedule(world, CollectiveKind::all_reduce, core.chunks);
  const auto exchange = [&](TransferKind kind) {
    if (fold.extras() == 0) return;
    for (int pair = 0; pair < fold.extras(); ++pair) {
      Rank src = fold.extra(pair), dst = fold.rank_of(pair);
      if (kind == TransferKind::copy) std::swap(src, dst);
      whole.transfers.push_back({whole.rounds, src, dst, 0, core.chunks, kind});
    }
    ++whole.rounds;
  };
  exchange(TransferKind::reduce);
  const std::vector<Rank> ranks = fold.ranks();
  embed(whole, core, {.ranks = ranks, .first_round = whole.rounds});
  exchange(TransferKind::copy);
  return whole;
}

/// Everybody exchanges everything with the rank at distance 1, then 2, 4 ...
Schedule build_all_reduce(const ScheduleRequest& request) {
  const Fold fold(request.world.workers);
  Schedule core = empty_schedule({.workers = fold.core()}, CollectiveKind::all_reduce, 1);
  core.rounds = fold.steps();
  for (int round = 0; round < core.rounds; ++round)
    for (int member = 0; member < fold.core(); ++member)
      core.transfers.push_back(
          {.round = round, .src = member, .dst = member ^ (1 << round), .kind = TransferKind::reduce});
  return folded_all_reduce(request.world, core);
}

Shape shape_all_reduce(const ScheduleRequest& request) {
  const Fold fold(request.world.workers);
  return {1, fold.steps() + 2 * folding_rounds(fold), doubling_transfers(fold) + 2 * fold.extras()};
}

Traffic traffic_all_reduce(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  const Fold fold(request.world.workers);
  if (fold.is_extra(rank)) return {cut.total(), cut.total()};
  const std::int64_t messages = fold.steps() + (fold.member_of(rank) < fold.extras() ? 1 : 0);
  return {messages * cut.total(), messages * cut.total()};
}

/// The parts of a run of members.
struct Parts {
  int first;
  int count;
};

/// What the `2^steps` members around `member` hold together.
Parts parts_around(const Fold& fold, int member, int steps) {
  const int first = member >> steps << steps;
  return {fold.first_part(first), fold.first_part(first + (1 << steps)) - fold.first_part(first)};
}

/// The core exchanges what it has gathered so far; every extra rank gives its part first and gets all others last.
Schedule build_all_gather(const ScheduleRequest& request) {
  const int ranks = request.world.workers;
  const Fold fold(ranks);
  Schedule schedule = empty_schedule(request.world, CollectiveKind::all_gather, ranks);
  const auto send = [&](Rank src, Rank dst, const Parts& parts) {
    if (parts.count > 0)
      schedule.transfers.push_back(
          {.round = schedule.rounds, .src = src, .dst = dst, .first_chunk = parts.first, .chunk_count = parts.count});
  };
  for (int pair = 0; pair < fold.extras(); ++pair) send(fold.extra(pair), fold.rank_of(pair), {fold.extra(pair), 1});
  schedule.rounds += folding_rounds(fold);
  for (int step = 0; step < fold.steps(); ++step, ++schedule.rounds)
    for (int member = 0; member < fold.core(); ++member)
      send(fold.rank_of(member), fold.rank_of(member ^ (1 << step)), parts_around(fold, member, step));
  for (int pair = 0; pair < fold.extras(); ++pair) {
    const Rank extra = fold.extra(pair);
    send(fold.rank_of(pair), extra, {0, extra});
    send(fold.rank_of(pair), extra, {extra + 1, ranks - extra - 1});
  }
  schedule.rounds += folding_rounds(fold);
  return schedule;
}

Shape shape_all_gather(const ScheduleRequest& request) {
  const Fold fold(request.world.workers);
  // An extra rank gives one message and gets what lies before and behind its own part, which is nothing before the
  // first part.
  const std::int64_t folding = std::max(0, 3 * fold.extras() - 1);
  return {.chunks = request.world.workers,
          .rounds = fold.steps() + 2 * folding_rounds(fold),
          .transfers = doubling_transfers(fold) + folding,
          .ranges = true};
}

Traffic traffic_all_gather(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  const Fold fold(request.world.workers);
  const std::int64_t others = cut.total() - cut.size(rank);
  if (fold.is_extra(rank)) return {cut.size(rank), others};
  const int member = fold.member_of(rank);
  Traffic own{0, others};
  for (int step = 0; step < fold.steps(); ++step) {
    const Parts gathered = parts_around(fold, member, step);
    own.sent += cut.size(gathered.first, gathered.count);
  }
  if (member < fold.extras()) own.sent += cut.total() - cut.size(fold.extra(member));
  return own;
}

}  // namespace

extern const Algorithm kRecursiveDoublingAllGather;
extern const Algorithm kRecursiveHalving;

namespace {

/// `value` with its lowest `bits` bits in opposite order.
int mirrored(int value, int bits) {
  int result = 0;
  for (int bit = 0; bit < bits; ++bit) result |= ((value >> bit) & 1) << (bits - 1 - bit);
  return result;
}

ScheduleRequest of_core(const Fold& fold) { return {.world = {.workers = fold.core()}}; }

/// Recursive halving begins with the largest messages and the farthest partners. Under mirrored names the partners are
/// the nearest: the largest messages stay within a node.
Schedule build(const ScheduleRequest& request) {
  const Fold fold(request.world.workers);
  const ScheduleRequest core_request = of_core(fold);
  const Schedule once = sequence(kRecursiveHalving.build(core_request), kRecursiveDoublingAllGather.build(core_request),
                                 CollectiveKind::all_reduce);
  std::vector<Rank> names;
  for (int member = 0; member < fold.core(); ++member) names.push_back(mirrored(member, fold.steps()));
  Schedule core = empty_schedule(once.world, CollectiveKind::all_reduce, once.chunks);
  embed(core, once, {.ranks = names});
  return folded_all_reduce(request.world, core);
}

Shape shape(const ScheduleRequest& request) {
  const Fold fold(request.world.workers);
  const std::int64_t core = 2 * kRecursiveDoublingAllGather.shape(of_core(fold)).transfers;
  return {.chunks = fold.core(),
          .rounds = 2 * fold.steps() + 2 * folding_rounds(fold),
          .transfers = core + 2 * fold.extras(),
          .ranges = true};
}

Traffic traffic(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  const Fold fold(request.world.workers);
  const Traffic everything{cut.total(), cut.total()};
  if (fold.is_extra(rank)) return everything;
  const int member = fold.member_of(rank);
  const Traffic gathers = kRecursiveDoublingAllGather.traffic(of_core(fold), cut, mirrored(member, fold.steps()));
  return gathers.reversed() + gathers + (member < fold.extras() ? everything : Traffic{});
}

}  // namespace

extern constinit const Algorithm kHalvingDoubling{
    .name = "halving-doubling",
    .summary =
        "recursive halving, then recursive doubling: bandwidth-optimal in 2 lg P rounds where P is a power of "
        "two",
    .citation =
        "Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004; Thakur, Rabenseifner and Gropp, "
        "Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .refuses = refuse_servers,
    .build = build,
    .shape = shape,
    .traffic = traffic,
    .reduce_scatter = &kRecursiveHalving,
    .all_gather = &kRecursiveDoublingAllGather,
};

extern constinit const Algorithm kRecursiveDoublingAllGather{
    .name = "recursive-doubling",
    .summary =
        "ranks exchange all they have gathered, twice as much each round: lg P rounds, 2 more where P is no "
        "power of two",
    .citation = kCitation,
    .collective = CollectiveKind::all_gather,
    .refuses = refuse_servers,
    .build = build_all_gather,
    .shape = shape_all_gather,
    .traffic = traffic_all_gather,
};

extern constinit const Algorithm kRecursiveHalving{
    .name = "recursive-halving",
    .summary = "ranks exchange halves of what they still add up: recursive doubling backwards, as many rounds",
    .citation = kCitation,
    .collective = CollectiveKind::reduce_scatter,
    .refuses = refuse_servers,
    .build =
        [](const ScheduleRequest& request) {
          return reversed(build_all_gather(request), CollectiveKind::reduce_scatter);
        },
    .shape = shape_all_gather,
    .traffic = [](const ScheduleRequest& request, const Cut& cut,
                  Rank rank) { return traffic_all_gather(request, cut, rank).reversed(); },
};

extern constinit const Algorithm kRecursiveDoubling{
    .name = "recursive-doubling",
    .summary = "ranks exchange whole buffers at distance 1, 2, 4 ...: lg P rounds, for small buffers",
    .citation = kCitation,
    .refuses = refuse_servers,
    .build = build_all_reduce,
    .shape = shape_all_reduce,
    .traffic = traffic_all_reduce,
};

}  // namespace hbench
