#pragma once

/// Whether a database is whole, and holds what it may.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

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

}  // namespace hbench
