#pragma once

#include <string>
#include <vector>

#include "analysis/import/import.hpp"

namespace hbench {

/// Returns a line for each of the first ten things that were left out, and one for how many more there are.
std::vector<std::string> left_out_lines(const std::vector<std::string>& left_out);

/// Returns what was stored and what was left out, for people. `run` is its number in the database, `is_new` whether it
/// was not there already.
std::string import_text(const ImportedRun& imported, std::int64_t run, bool is_new, const std::string& database);

}  // namespace hbench
