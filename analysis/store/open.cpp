#include "analysis/store/open.hpp"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>

#include "collectives/base/error.hpp"

namespace hbench::store {
namespace {

struct FileSystem {
  std::int64_t type;
  std::string_view name;
};

constexpr std::array kShared{
    FileSystem{NFS_SUPER_MAGIC, "NFS"},   FileSystem{SMB_SUPER_MAGIC, "SMB"}, FileSystem{0xfe534d42, "SMB2"},
    FileSystem{0xff534d42, "CIFS"},       FileSystem{0x0bd00bd0, "Lustre"},   FileSystem{0x65735546, "FUSE"},
    FileSystem{0x47504653, "GPFS"},       FileSystem{0x19830326, "BeeGFS"},   FileSystem{0x00c36400, "Ceph"},
    FileSystem{V9FS_MAGIC, "9P"},         FileSystem{AFS_SUPER_MAGIC, "AFS"}, FileSystem{0x6b414653, "AFS"},
    FileSystem{CODA_SUPER_MAGIC, "Coda"}, FileSystem{NCP_SUPER_MAGIC, "NCP"}, FileSystem{0x7461636f, "OCFS2"},
    FileSystem{0x01161970, "GFS2"},       FileSystem{0xaad7aaea, "PanFS"},    FileSystem{0xbeefdead, "SNFS"},
    FileSystem{0x20030528, "OrangeFS"},
};

namespace fs = std::filesystem;

[[noreturn]] void refuse(std::string message, std::string hint) {
  throw Error(ExitCode::usage, std::move(message), std::move(hint));
}

void check_path(const fs::path& file, bool must_exist) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) refuse(fmt::format("'{}' is a folder", file.string()), "name a file in it");
  const fs::path folder = fs::absolute(file).parent_path();
  if (!must_exist && !fs::is_directory(folder, ignored))
    refuse(fmt::format("there is no folder '{}' for '{}'", folder.string(), file.filename().string()),
           fmt::format("make it: mkdir -p '{}'", folder.string()));
  if (must_exist && fs::status(file, ignored).type() == fs::file_type::not_found)
    refuse(fmt::format("there is no results database '{}'", file.string()),
           "check the name, or make one with `hbench sweep`");
}

bool is_empty(Database& database) {
  return database.integer("PRAGMA application_id") == 0 && schema_version(database) == 0 &&
         database.integer("SELECT count(*) FROM sqlite_master") == 0;
}

/// In memory, and migrated.
Database copy_of(Database& database, std::span<const Migration> steps) {
  Database copy = database.copied_to_memory();
  if (schema_version(copy) < steps.back().version) migrate(copy, steps);
  return copy;
}

/// Ends exclusive locking; the lock is given back by the next access.
void share(Database& database) {
  database.run("PRAGMA locking_mode = NORMAL");
  database.integer("PRAGMA user_version");
}

void check_is_ours(Database& database, std::span<const Migration> steps) {
  if (database.integer("PRAGMA application_id") != kApplicationId)
    refuse(fmt::format("'{}' is a database of another program", database.file()),
           "name another file; hbench leaves this one as it is");
  const int version = schema_version(database);
  if (version > steps.back().version)
    refuse(fmt::format("'{}' has schema version {}; this hbench knows versions up to {}", database.file(), version,
                       steps.back().version),
           "use the newer hbench that wrote it");
  if (std::ranges::find(steps, version, &Migration::version) == steps.end())
    refuse(fmt::format("'{}' has schema version {}, which no release of hbench had", database.file(), version),
           "hbench export with the program that wrote it, or measure again into another file");
}

}  // namespace

int schema_version(Database& database) { return static_cast<int>(database.integer("PRAGMA user_version")); }

void migrate(Database& database, std::span<const Migration> steps) {
  Transaction transaction(database, Transaction::Kind::write);
  // Read under the lock: another process may have migrated while this one waited for it.
  const int version = schema_version(database);
  void (*finish)(Database&) = nullptr;
  for (const Migration& step : steps) {
    if (step.version <= version) continue;
    database.run(step.sql);
    if (step.finish != nullptr) finish = step.finish;
    database.run(fmt::format("PRAGMA user_version = {}", step.version));
  }
  if (finish != nullptr) finish(database);
  database.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
  transaction.commit();
}

std::int64_t file_system_type(const std::filesystem::path& file) {
  struct statfs facts {};
  const std::filesystem::path whole = std::filesystem::absolute(file);
  if (statfs(whole.c_str(), &facts) != 0 && statfs(whole.parent_path().c_str(), &facts) != 0) return kUnknownFileSystem;
  // 32 bits wherever the kernel gives it; some architectures extend its sign.
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(facts.f_type));
}

std::string_view network_file_system(std::int64_t type) {
  const auto found = std::ranges::find(kShared, type, &FileSystem::type);
  return found == kShared.end() ? std::string_view() : found->name;
}

bool wal_works_on(std::int64_t type) { return type != kUnknownFileSystem && network_file_system(type).empty(); }

Database open_file(const fs::path& file, bool create, std::chrono::milliseconds patience, std::int64_t file_system) {
  Database database(file, create, patience);
  if (wal_works_on(file_system)) return database;
  // Before SQLite reads the file, since it then maps the index of the log. (Its header must not be read by ourselves:
  // to close a file drops the locks that other connections of this process hold on it.)
  database.run("PRAGMA locking_mode = EXCLUSIVE");
  if (database.text("PRAGMA journal_mode") != "wal") share(database);
  return database;
}

Database open_for_writing(const fs::path& file, std::chrono::milliseconds patience, std::span<const Migration> steps,
                          bool must_exist) {
  check_path(file, must_exist);
  Database database = open_file(file, !must_exist, patience, file_system_type(file));
  const bool fresh = is_empty(database);
  if (!fresh) check_is_ours(database, steps);
  if (database.read_only())
    throw Error(ExitCode::environment, fmt::format("'{}' is read-only", database.file()),
                "results are appended to it: change its permissions or name another file");
  // Not WAL: that needs shared memory, which network file systems lack, and write permission for readers.
  database.text("PRAGMA journal_mode = DELETE");
  share(database);
  database.run("PRAGMA synchronous = FULL");
  if (fresh || schema_version(database) < steps.back().version) migrate(database, steps);
  // After the migration: a table that is made anew is missing for a short time.
  database.run("PRAGMA foreign_keys = ON");
  return database;
}

Database open_as_it_is(const fs::path& file, std::chrono::milliseconds patience, std::span<const Migration> steps) {
  check_path(file, true);
  Database database = open_file(file, false, patience, file_system_type(file));
  // What a writer leaves that was ended at once, or that has not begun.
  if (is_empty(database)) return copy_of(database, steps);
  check_is_ours(database, steps);
  database.run("PRAGMA query_only = ON");
  return database;
}

Database open_for_reading(const fs::path& file, std::chrono::milliseconds patience, std::span<const Migration> steps) {
  Database database = open_as_it_is(file, patience, steps);
  return schema_version(database) < steps.back().version ? copy_of(database, steps) : std::move(database);
}

Database open_copy(const fs::path& file, std::chrono::milliseconds patience, std::span<const Migration> steps) {
  Database database = open_as_it_is(file, patience, steps);
  return copy_of(database, steps);
}

void check_health(Database& database) {
  // SQLite reads zeros beyond the end of a last page that was cut, which no check of its own tells from values.
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(database.file(), unknown);
  const auto page = static_cast<std::uintmax_t>(database.integer("PRAGMA page_size"));
  const std::string health =
      !unknown && size % page != 0 ? "its last page was cut off" : database.text("PRAGMA quick_check(1)");
  if (health != "ok")
    throw Error(ExitCode::wrong_data, fmt::format("'{}' is damaged: {}", database.file(), health),
                fmt::format("save what can be read: sqlite3 '{}' .recover | sqlite3 recovered.db", database.file()));
}

}  // namespace hbench::store
