#pragma once

/// Brings the runs of one database into another.

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace hbench {

/// What came, and what was there already.
struct MergeResult {
  int added = 0;                        ///< runs that are new
  int grown = 0;                        ///< runs that were merged before they ended, of which the rest came
  int known = 0;                        ///< runs that were there with all that they hold
  std::int64_t cases = 0, samples = 0;  ///< that came
};

/// Appends the runs of `from` that `into` does not have, by UUID, with environment, labels, cases and samples; `into`
/// is made when it is absent. Each run comes in a transaction of its own: what is interrupted is finished by doing it
/// again, and two processes may merge the same runs at once. `from` is only read, of whatever older schema it is.
/// \throws Error: as `Store`, usage when both are one file, and wrong_data for a run with what is implausible
/// (`analysis/points/plausible.hpp`): runs before it, the oldest first, are merged.
MergeResult merge_database(const std::filesystem::path& from, const std::filesystem::path& into,
                           std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace hbench
