#pragma once

/// Whom a rank averages its parameters with, where it does not with all: the same in the simulator and in the engine.

#include <algorithm>
#include <bit>
#include <random>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench {

/// Returns the rank that `rank` averages with in an iteration, drawn among all others; the same each time. \pre at
/// least two workers
inline Rank partner_of(Rank rank, int iteration, int workers) {
  constexpr std::uint64_t kSeed = 20260101;  // one number is as good as another
  std::mt19937_64 draw(kSeed + static_cast<std::uint64_t>(rank) * 1'000'003 + static_cast<std::uint64_t>(iteration));
  return (rank + std::uniform_int_distribution<int>(1, workers - 1)(draw)) % workers;
}

/// Which ranks send each other parameters in an iteration, all of the same number of ranks: means with them leave the
/// mean over all ranks as it is.
enum class PeerGraph : std::uint8_t {
  circle,       ///< the ranks before and after a rank
  exponential,  ///< to the rank that is 1, 2, 4 ... ranks on, in turn; 2^k ranks agree after k iterations
};

/// The ranks that one sends to, and those that it gets parameters from.
struct Peers {
  std::vector<Rank> to, from;
};

/// The number of different iterations of an exponential graph: the binary logarithm of `workers`, rounded up.
inline int exponential_turns(int workers) { return std::bit_width(static_cast<unsigned>(std::max(workers, 1) - 1)); }

/// Returns the peers of `rank` in an iteration; none where there is one worker.
inline Peers peers_of(PeerGraph graph, Rank rank, int workers, int iteration) {
  if (workers < 2) return {};
  const int shift = graph == PeerGraph::exponential ? 1 << iteration % exponential_turns(workers) : 1;
  const Rank before = (rank + workers - shift) % workers, after = (rank + shift) % workers;
  if (graph == PeerGraph::exponential) return {{after}, {before}};
  std::vector<Rank> both{before};
  if (after != before) both.push_back(after);
  return {both, both};
}

/// By how many iterations a rank may be ahead of another that it waits for, through others.
inline int most_ahead(PeerGraph graph, int workers) {
  return graph == PeerGraph::exponential ? exponential_turns(workers) : workers / 2;
}

}  // namespace hbench
