#pragma once

/// Opening a results database: is it ours, can we read it, must it be migrated?

#include <chrono>
#include <filesystem>
#include <span>

#include "analysis/store/migrations.hpp"
#include "analysis/store/sqlite.hpp"

namespace hbench::store {

/// A connection that is safe on a file system of this type (`file_system.hpp`). hbench keeps a rollback journal, which
/// works everywhere; but another program may have left the file in WAL mode, and where WAL does not work such a file is
/// used alone: without shared memory, and locked for all others until the connection ends or the mode is changed.
Database open_file(const std::filesystem::path& file, bool create, std::chrono::milliseconds patience,
                   std::int64_t file_system);

/// For a writer. Migrates an older file; one that is absent is made, unless it `must_exist`.
/// \throws Error as `Store` says.
Database open_for_writing(const std::filesystem::path& file, std::chrono::milliseconds patience,
                          std::span<const Migration> steps, bool must_exist = false);

/// As it is, of whatever schema up to the last of `steps`; not to be written to. An empty file is a new database.
/// \throws Error as `Store` says.
Database open_as_it_is(const std::filesystem::path& file, std::chrono::milliseconds patience,
                       std::span<const Migration> steps);

/// For readers. An older schema is migrated in a copy in memory: the file stays as it is. (After a crash
/// of the writer, SQLite first takes back the unfinished transaction, which needs write permission.)
/// \throws Error as `Store` says.
Database open_for_reading(const std::filesystem::path& file, std::chrono::milliseconds patience,
                          std::span<const Migration> steps);

/// A copy in memory, of today's schema, that may be changed: the file stays as it is. \throws Error as `Store` says.
Database open_copy(const std::filesystem::path& file, std::chrono::milliseconds patience,
                   std::span<const Migration> steps);

/// \throws Error (wrong_data) where SQLite finds damage, or the file ends within a page.
void check_health(Database& database);

}  // namespace hbench::store
