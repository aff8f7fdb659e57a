#pragma once

/// Opening a results database: is it ours, can we read it, must it be migrated?

#include <chrono>
#include <filesystem>
#include <span>

#include "analysis/store/migrations.hpp"
#include "analysis/store/sqlite.hpp"

namespace hbench::store {

/// For the one writer. Makes the file when absent and migrates an older one.
/// \throws Error as `Store` says.
Database open_for_writing(const std::filesystem::path& file, std::chrono::milliseconds patience,
                          std::span<const Migration> steps);

/// For readers. An older schema is migrated in a copy in memory: the file stays as it is. (After a crash
/// of the writer, SQLite first takes back the unfinished transaction, which needs write permission.)
/// \throws Error as `Store` says.
Database open_for_reading(const std::filesystem::path& file, std::chrono::milliseconds patience,
                          std::span<const Migration> steps);

}  // namespace hbench::store
