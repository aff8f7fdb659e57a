#pragma once

/// The files that people give to `hbench import` and `hbench expect`, and what `hbench db` did or found, for people and
/// for machines.

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/import.hpp"
#include "analysis/store/upkeep.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// Whether a file is one of SQLite, as hbench's databases are.
bool is_database(const std::filesystem::path& file);

/// The files that are no databases. \throws Error: (usage) for one that is given twice, and as `read_file`.
std::vector<ImportFile> read_outputs(const std::vector<std::string>& names);

/// What one database gave.
struct Merged {
  std::string file;
  MergeResult result;
};

/// `other.db: 3 runs came, with 12 cases and 4,000 samples; 5 were there`.
std::string merge_text(const Merged& merged);
/// Names `db`, with a row for each database that was merged.
std::string merge_json(const std::string& db, const std::vector<Merged>& all, Form form = Form::values);

/// A line for each finding, and one that counts them.
std::string check_text(const std::string& db, const std::vector<DatabaseFinding>& findings);
std::string check_json(const std::string& db, const std::vector<DatabaseFinding>& findings, Form form = Form::values);

/// A line for each run, and one for all.
std::string prune_text(const std::string& db, const PruneResult& result, bool dry_run);
std::string prune_json(const std::string& db, const PruneResult& result, bool dry_run, Form form = Form::values);

std::string vacuum_text(const std::string& db, const VacuumResult& result);

/// The time that was `age` before `now`, as runs store theirs (ISO 8601, UTC). `age` is a number above 0 with h, d
/// (days) or w (weeks), at most 100 years. Pure. \throws Error (usage) that names `flag`.
std::string time_before(std::chrono::sys_seconds now, std::string_view age, std::string_view flag);

}  // namespace hbench
