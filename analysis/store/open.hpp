#pragma once

/// Opening a results database: is it ours, can we read it, must it be migrated?
///
/// The steps that lead from an empty file, or from a database of hbench 0.1.0, to today's schema.
///
/// Brings a database to today's schema.
///
/// What kind of file system a database is on, which decides how SQLite may keep its journal there.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "analysis/store/sqlite.hpp"

namespace hbench::store {

class Database;

/// One step: SQL that turns a database of the step before it into one of `version`. Once released, never edited.
struct Migration {
  int version = 0;
  std::string_view sql;
  /// What SQL cannot do, on the schema of the last version: of the steps that ran, the last one's is called once, after
  /// them all. Null where there is nothing to do.
  void (*finish)(Database& database) = nullptr;
};

/// All steps, one for each file of `migrations/`, in ascending order: the schema of each release. Between them,
/// versions were those of no release; databases of such a version are refused.
std::span<const Migration> migrations();

/// A connection that is safe on a file system of this type. hbench keeps a rollback journal, which
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

/// `PRAGMA application_id` of our files: "hbnc" in ASCII. `file results.db` shows it.
inline constexpr std::int64_t kApplicationId = 0x68626e63;

/// `PRAGMA user_version`; 0 before the first migration.
int schema_version(Database& database);

/// Runs the steps above the database's version, all in one transaction: a crash leaves the old schema
/// whole. Safe when two processes do it at once. \throws Error (environment).
void migrate(Database& database, std::span<const Migration> steps);

inline constexpr std::int64_t kUnknownFileSystem = 0;

/// `f_type` of statfs(2) of the file, or of its folder where the file is not there yet; `kUnknownFileSystem` where the
/// system does not say.
std::int64_t file_system_type(const std::filesystem::path& file);

/// `NFS`, `Lustre` ...: a file system that several machines may have mounted at once. FUSE counts as one, because it
/// hides what is behind it (sshfs, s3fs). Empty for others. The numbers are those of Linux's `linux/magic.h`, and of
/// systems outside the kernel those that GNU `stat` knows.
std::string_view network_file_system(std::int64_t type);

/// Whether SQLite's write-ahead log works among all processes that can open a file there. Its index is shared memory
/// (sqlite.org/wal.html, "Overview"), which processes on different machines do not share. Not where the type is
/// unknown.
bool wal_works_on(std::int64_t type);

}  // namespace hbench::store
