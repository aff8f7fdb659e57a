#pragma once

/// Whom a rank averages its parameters with, where it does not with all: the same in the simulator and in the engine.

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

/// Returns the ranks before and after `rank` in a circle of `workers`: one where there are two workers, none where
/// there is one. Means with them leave the mean over all ranks as it is.
inline std::vector<Rank> neighbours_of(Rank rank, int workers) {
  if (workers < 2) return {};
  std::vector<Rank> both{(rank + workers - 1) % workers};
  if (workers > 2) both.push_back((rank + 1) % workers);
  return both;
}

/// Returns by how many iterations a rank may be ahead of another: by one for each step of the circle between them.
inline int most_ahead(int workers) { return workers / 2; }

}  // namespace hbench
