#pragma once

/// Removes old runs, and gives their space back to the disk.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"

namespace hbench {

/// Which runs go. They meet every condition.
struct PruneRule {
  std::string before;                         ///< they started before this time (ISO 8601, UTC); empty: at any
  int keep = 1;                               ///< the number of the newest runs with these labels that stay
  std::map<std::string, std::string> labels;  ///< they have them all
};

/// Of `runs`, in the order in which they started, those that go. One whose start is no time of ISO 8601 is not older
/// than any. Pure.
std::vector<Run> runs_to_prune(const std::vector<Run>& runs, const PruneRule& rule);

struct PrunedRun {
  Run run;
  std::int64_t cases = 0, samples = 0;
};

struct PruneResult {
  std::vector<PrunedRun> runs;
  std::int64_t bytes = 0;  ///< of the file that become free for later rows; `vacuum_database` gives them to the disk
};

/// Removes whole runs, in one transaction. A `dry_run` does the same to a copy in memory, so that its figures are exact
/// and nothing is written.
/// \throws Error as `Store`, and usage where the file does not exist.
PruneResult prune_database(const std::filesystem::path& file, const PruneRule& rule, bool dry_run,
                           std::chrono::milliseconds patience = std::chrono::seconds(5));

struct VacuumResult {
  std::uintmax_t before = 0, after = 0;  ///< bytes of the file
};

/// Writes the file anew without its free space, for which the disk needs as much space again.
/// \throws Error as `prune_database`.
VacuumResult vacuum_database(const std::filesystem::path& file,
                             std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace hbench
