#pragma once

/// Records as rows and back.

#include <cstdint>

#include "analysis/records.hpp"
#include "analysis/store/sqlite.hpp"

namespace hbench::store {

/// Inserts the run and its environment; its id.
std::int64_t insert(Database& database, const Run& run);
/// Inserts the case and its samples. \throws Error (wrong_data) for a value that is not a number.
void insert(Database& database, std::int64_t run, const CaseResult& result);

/// Oldest first.
std::vector<Run> select_runs(Database& database);
/// Per key the newest case that is done, or the newest failed one; oldest first.
std::vector<CaseResult> select_results(Database& database);

}  // namespace hbench::store
