#pragma once

/// The upkeep of a database: whether it is whole and holds what it may, the runs of others brought into it, and old
/// runs removed.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "collectives/base/error.hpp"

namespace hbench {

/// What one check found, on one line.
struct DatabaseFinding {
  std::string check;  ///< `integrity`, `references`, `schema`, `journal`, `samples`, `values`, `runs`, `identity`,
                      ///< `plausibility`
  Severity severity = Severity::pass;
  std::string what;
};

/// Checks the file as it is, of whatever older schema, and changes nothing. Every check gives one finding or more;
/// where SQLite finds damage, its findings alone are given, because the others could not be relied on; and where rows
/// are not what they must be, their figures are not judged. \throws Error as `Store` does for what is no database of
/// ours, of a newer schema, locked, or damaged at its header.
std::vector<DatabaseFinding> check_database(const std::filesystem::path& file,
                                            std::chrono::milliseconds patience = std::chrono::seconds(5));

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
