#pragma once

#include <string>

#include "analysis/import/import.hpp"

namespace hbench {

/// Returns what was stored and what was left out, for people. `run` is its number in the database, `is_new` whether it
/// was not there already.
std::string import_text(const ImportedRun& imported, std::int64_t run, bool is_new, const std::string& database);

}  // namespace hbench
