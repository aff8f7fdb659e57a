#pragma once

/// The files that people give to `hbench import` and `hbench expect`.

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/import/import.hpp"

namespace hbench {

/// Whether a file is one of SQLite, as hbench's databases are.
bool is_database(const std::filesystem::path& file);

/// The files that are no databases. \throws Error: (usage) for one that is given twice, and as `read_file`.
std::vector<ImportFile> read_outputs(const std::vector<std::string>& names);

}  // namespace hbench
