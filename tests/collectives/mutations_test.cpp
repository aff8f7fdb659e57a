/// Breaks the schedule of every algorithm in every small way and asks the checker. An independent oracle, which
/// executes on vectors of counts and knows nothing of sets, says which mutants have lost their meaning.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "collectives/schedule/checker.hpp"
#include "tests/collectives/instances.hpp"
#include "tests/support/sanitized.hpp"

namespace hbench::mutations_test {
namespace {

using namespace ::hbench::support;

/// How often each worker's contribution is in one chunk, and, last, how often garbage is.
using Counts = std::vector<int>;

/// What the collective lets a rank begin with.
Counts brought(const Schedule& schedule, Rank rank, int chunk) {
  const int workers = schedule.world.workers;
  Counts counts(static_cast<std::size_t>(workers) + 1);
  if (rank >= workers) return counts;
  const bool brings = schedule.collective == CollectiveKind::all_reduce ||
                      schedule.collective == CollectiveKind::reduce_scatter ||
                      (schedule.collective == CollectiveKind::broadcast && rank == 0) ||
                      (schedule.collective == CollectiveKind::all_gather && chunk * workers / schedule.chunks == rank);
  ++counts[static_cast<std::size_t>(brings ? rank : workers)];
  return counts;
}

/// The sum of what everybody brought to a chunk.
Counts wanted(const Schedule& schedule, int chunk) {
  const int workers = schedule.world.workers;
  Counts sum(static_cast<std::size_t>(workers) + 1);
  for (Rank rank = 0; rank < workers; ++rank) {
    const Counts counts = brought(schedule, rank, chunk);
    for (int worker = 0; worker < workers; ++worker)
      sum[static_cast<std::size_t>(worker)] += counts[static_cast<std::size_t>(worker)];
  }
  return sum;
}

bool in_range(const Schedule& schedule, const Transfer& t) {
  const int ranks = schedule.world.ranks();
  return t.src >= 0 && t.src < ranks && t.dst >= 0 && t.dst < ranks && t.first_chunk >= 0 && t.chunk_count >= 1 &&
         t.first_chunk + t.chunk_count <= schedule.chunks && t.round >= 0 && t.round < schedule.rounds;
}

/// Whether every worker ends with what the collective promises, whichever way the writes of a round are ordered: a
/// round is run forwards and backwards.
bool reaches_its_goal(const Schedule& schedule) {
  for (const Transfer& transfer : schedule.transfers)
    if (!in_range(schedule, transfer)) return false;
  const int workers = schedule.world.workers;
  using State = std::map<std::pair<Rank, int>, Counts>;
  State state;
  for (Rank rank = 0; rank < schedule.world.ranks(); ++rank)
    for (int chunk = 0; chunk < schedule.chunks; ++chunk) state[{rank, chunk}] = brought(schedule, rank, chunk);
  const auto apply = [&](const State& before, State after, std::vector<Transfer> round) {
    for (const Transfer& t : round)
      for (int chunk = t.first_chunk; chunk < t.first_chunk + t.chunk_count; ++chunk) {
        const Counts& payload = before.at({t.src, chunk});
        Counts& target = after.at({t.dst, chunk});
        for (std::size_t i = 0; i < target.size(); ++i)
          target[i] = payload[i] + (t.kind == TransferKind::reduce ? target[i] : 0);
      }
    return after;
  };
  for (int round = 0; round < schedule.rounds; ++round) {
    std::vector<Transfer> transfers;
    for (const Transfer& t : schedule.transfers)
      if (t.round == round) transfers.push_back(t);
    const State forwards = apply(state, state, transfers);
    std::ranges::reverse(transfers);
    if (apply(state, state, transfers) != forwards) return false;
    state = forwards;
  }
  for (Rank worker = 0; worker < workers; ++worker)
    for (int chunk = 0; chunk < schedule.chunks; ++chunk) {
      const bool scratch =
          schedule.collective == CollectiveKind::reduce_scatter && chunk * workers / schedule.chunks != worker;
      if (!scratch && state.at({worker, chunk}) != wanted(schedule, chunk)) return false;
    }
  return true;
}

void sort_by_round(Schedule& schedule) { std::ranges::stable_sort(schedule.transfers, {}, &Transfer::round); }

struct Mutation {
  std::string name;
  /// Whether every such mutant of the schedule must be refused; elsewhere the oracle says which.
  std::function<bool(const Schedule&)> always_fatal;
  /// Changes `schedule` at transfer `index`.
  std::function<void(Schedule&, std::size_t)> apply;
};

// A single worker has the sum from the beginning, and no lost transfer takes it away.
const auto kSeveralWorkers = [](const Schedule& s) { return s.world.workers > 1; };
const auto kOracleDecides = [](const Schedule&) { return false; };

const std::vector<Mutation> kMutations{
    {"drop", kSeveralWorkers,
     [](Schedule& s, std::size_t i) { s.transfers.erase(s.transfers.begin() + static_cast<int>(i)); }},
    {"duplicate", kSeveralWorkers,
     [](Schedule& s, std::size_t i) {
       s.transfers.insert(s.transfers.begin() + static_cast<int>(i), Transfer(s.transfers[i]));
     }},
    {"swap source and destination", kSeveralWorkers,
     [](Schedule& s, std::size_t i) { std::swap(s.transfers[i].src, s.transfers[i].dst); }},
    {"change kind", kSeveralWorkers,
     [](Schedule& s, std::size_t i) {
       TransferKind& kind = s.transfers[i].kind;
       kind = kind == TransferKind::copy ? TransferKind::reduce : TransferKind::copy;
     }},
    {"shift the chunk", kSeveralWorkers, [](Schedule& s, std::size_t i) { ++s.transfers[i].first_chunk; }},
    {"shift the chunk, wrapped", [](const Schedule& s) { return s.world.workers > 1 && s.chunks > 1; },
     [](Schedule& s, std::size_t i) { s.transfers[i].first_chunk = (s.transfers[i].first_chunk + 1) % s.chunks; }},
    // In a ring of two the longer message happens to be overwritten with the sum in time.
    {"lengthen", kOracleDecides, [](Schedule& s, std::size_t i) { ++s.transfers[i].chunk_count; }},
    // A ring of three adds up in another order and is still right.
    {"send to the next rank", kOracleDecides,
     [](Schedule& s, std::size_t i) { s.transfers[i].dst = (s.transfers[i].dst + 1) % s.world.ranks(); }},
    {"one round later", kOracleDecides,
     [](Schedule& s, std::size_t i) {
       ++s.transfers[i].round;
       sort_by_round(s);
     }},
    {"one round earlier", kOracleDecides,
     [](Schedule& s, std::size_t i) {
       --s.transfers[i].round;
       sort_by_round(s);
     }},
    {"exchange its round with the first", kOracleDecides,
     [](Schedule& s, std::size_t i) {
       const int round = s.transfers[i].round;
       for (Transfer& t : s.transfers) t.round = t.round == round ? 0 : t.round == 0 ? round : t.round;
       sort_by_round(s);
     }},
};

TEST(Mutations, LeaveTheOracleContentWithTheOriginals) {
  for (const Algorithm* algorithm : algorithms())
    for (const int workers : {1, 2, 3, 4, 5, 7})
      for (const Instance& instance : instances(*algorithm, workers))
        EXPECT_TRUE(reaches_its_goal(instance.schedule)) << instance.name;
}

TEST(Mutations, ThatChangeTheMeaningAreRefusedForEveryAlgorithm) {
  std::map<std::pair<std::string, const Algorithm*>, int> tried, refused;
  for (const Algorithm* algorithm : algorithms())
    for (const int workers : support::kSanitized ? std::vector{1, 2, 3, 4} : std::vector{1, 2, 3, 4, 5, 7})
      for (const Instance& instance : instances(*algorithm, workers)) {
        if (instance.segments > 2) continue;  // two meet everything that more do
        for (const Mutation& mutation : kMutations)
          for (std::size_t i = 0; i < instance.schedule.transfers.size(); ++i) {
            Schedule mutant = instance.schedule;
            mutation.apply(mutant, i);
            if (mutant.transfers == instance.schedule.transfers) continue;
            const bool accepted = !check(mutant).has_value();
            ASSERT_TRUE(!accepted || reaches_its_goal(mutant)) << mutation.name << " " << i << " of " << instance.name;
            if (mutation.always_fatal(instance.schedule)) {
              ASSERT_FALSE(accepted) << mutation.name << " " << i << " of " << instance.name;
            }
            ++tried[{mutation.name, algorithm}];
            refused[{mutation.name, algorithm}] += accepted ? 0 : 1;
          }
      }
  // No mutation is a blank: each was refused somewhere, in each algorithm that it changes (a schedule of one round has
  // no rounds to exchange).
  for (const auto& [mutation, count] : tried)
    EXPECT_GT((refused[mutation]), 0) << mutation.first << " of " << mutation.second->name << ", " << count << " tried";
  for (const Algorithm* algorithm : algorithms())
    if (!algorithm->is_vendor()) {
      EXPECT_GE(std::ranges::count_if(tried, [&](const auto& entry) { return entry.first.second == algorithm; }),
                std::ssize(kMutations) - 1)
          << algorithm->name;
    }
}

}  // namespace
}  // namespace hbench::mutations_test
