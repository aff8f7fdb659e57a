#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"
#include "collectives/algorithms/fold.hpp"
#include "collectives/algorithms/peers.hpp"

namespace hbench {
namespace {

constexpr std::string_view kCitation =
    "Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, Int. J. High "
    "Perform. Comput. Appl. 19(1), 2005";

/// Every member of the core sends in every step.
std::int64_t doubling_transfers(const Fold& fold) { return std::int64_t{fold.core()} * fold.steps(); }

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
constinit const Algorithm kRecursiveDoublingAllGather{
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

extern const Algorithm kRecursiveHalving;
constinit const Algorithm kRecursiveHalving{
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

extern const Algorithm kRecursiveDoubling;
constinit const Algorithm kRecursiveDoubling{
    .name = "recursive-doubling",
    .summary = "ranks exchange whole buffers at distance 1, 2, 4 ...: lg P rounds, for small buffers",
    .citation = kCitation,
    .refuses = refuse_servers,
    .build = build_all_reduce,
    .shape = shape_all_reduce,
    .traffic = traffic_all_reduce,
};

}  // namespace hbench
