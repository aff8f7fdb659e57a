#pragma once

#include <random>

#include "collectives/base/units.hpp"

namespace hbench {

/// Returns the rank that `rank` averages with in an iteration, drawn among all others; the same each time. \pre at
/// least two workers
inline Rank partner_of(Rank rank, int iteration, int workers) {
  constexpr std::uint64_t kSeed = 20260101;  // one number is as good as another
  std::mt19937_64 draw(kSeed + static_cast<std::uint64_t>(rank) * 1'000'003 + static_cast<std::uint64_t>(iteration));
  return (rank + std::uniform_int_distribution<int>(1, workers - 1)(draw)) % workers;
}

}  // namespace hbench
