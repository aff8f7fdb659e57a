#include "analysis/store/sqlite.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "collectives/base/error.hpp"

namespace hbench::store {
namespace {

Error full(std::string_view file) {
  return Error(
      ExitCode::environment, fmt::format("the disk is full: '{}' could not be written", file),
      "free some space and run it again; what was stored before is safe, and a sweep goes on from there with --resume");
}

Error read_only(std::string_view file) {
  return Error(ExitCode::environment, fmt::format("'{}' cannot be written: the file or its folder is read-only", file),
               "name a file in a folder of your own; SQLite also needs to create a journal beside the file");
}

Error damaged(std::string_view file, const char* detail) {
  return Error(ExitCode::wrong_data, fmt::format("'{}' is damaged: {}", file, detail),
               fmt::format("save what can be read: sqlite3 '{}' .recover | sqlite3 recovered.db", file));
}

/// The error for the last failure of `handle` on `file`.
/// Codes: environment for a lock, a full disk, missing permissions and failed input or output; wrong_data
/// for a damaged file; usage for a file that is no database; internal for the rest.
Error error_of(sqlite3* handle, std::string_view file) {
  const char* detail = sqlite3_errmsg(handle);
  switch (sqlite3_errcode(handle)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error(ExitCode::environment, fmt::format("'{}' is locked by another process", file),
                   fmt::format("wait until the other hbench or sqlite3 ends; `fuser '{}'` names it", file));
    case SQLITE_FULL:
      return full(file);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return read_only(file);
    case SQLITE_CANTOPEN:
      return Error(ExitCode::environment, fmt::format("'{}' or its journal cannot be opened: {}", file, detail),
                   "check the permissions of the file and of its folder");
    case SQLITE_NOMEM:
      return Error(ExitCode::environment, fmt::format("there is no memory left to read or write '{}'", file),
                   "end other programs, or their limits (ulimit -v)");
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    // Our statements are fixed: they fail where tables, and what refers to them, are not those of the version that the
    // file claims.
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_SCHEMA:
    case SQLITE_TOOBIG:
      return damaged(file, detail);
    case SQLITE_NOTADB:
      return Error(ExitCode::usage, fmt::format("'{}' is no hbench results database", file),
                   "name another file, or move this one away");
    case SQLITE_IOERR:
      return Error(ExitCode::environment, fmt::format("reading or writing '{}' failed: {}", file, detail),
                   "check the disk, its quota and its limits; what was stored before is safe");
    default:
      return Error(ExitCode::internal,
                   fmt::format("'{}': {} (SQLite code {})", file, detail, sqlite3_extended_errcode(handle)));
  }
}

/// Makes an empty file that its owner alone may read, unless something is there: commands and names of machines are
/// nobody else's. Where that fails SQLite says why.
void make_private(const std::filesystem::path& file) {
  const int made = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made >= 0) ::close(made);
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Database::Database(const std::filesystem::path& file, bool create, std::chrono::milliseconds patience)
    : file_(file.string()) {
  if (create) make_private(file);
  // An absolute path, because SQLite reads "" and ":memory:" in a way of its own.
  open(std::filesystem::absolute(file).string(), SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0));
  sqlite3_busy_timeout(handle_.get(), static_cast<int>(patience.count()));
}

void Database::open(const std::string& name, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &raw, flags, nullptr);
  handle_.reset(raw);
  if (code != SQLITE_OK) throw error_of(raw, file_);
}

Database Database::copied_to_memory() {
  Database copy(file_);
  copy.open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  sqlite3_backup* backup = sqlite3_backup_init(copy.handle(), "main", handle(), "main");
  if (backup == nullptr) throw error_of(copy.handle(), file_);
  sqlite3_backup_step(backup, -1);
  if (sqlite3_backup_finish(backup) != SQLITE_OK) throw error_of(copy.handle(), file_);
  return copy;
}

void Database::run(std::string_view sql) {
  if (sqlite3_exec(handle(), std::string(sql).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    throw error_of(handle(), file_);
}

std::int64_t Database::integer(std::string_view sql) {
  Statement statement(*this, sql);
  statement.step();
  return statement.integer(0);
}

std::string Database::text(std::string_view sql) {
  Statement statement(*this, sql);
  statement.step();
  return statement.text(0);
}

bool Database::has_table(std::string_view name) {
  Statement row(*this, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?");
  row.bind(name);
  row.step();
  return row.integer(0) > 0;
}

bool Database::read_only() const { return sqlite3_db_readonly(handle(), "main") == 1; }
std::int64_t Database::last_row_id() const { return sqlite3_last_insert_rowid(handle()); }

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(Database& database, std::string_view sql) : database_(&database) {
  sqlite3_stmt* raw = nullptr;
  check(sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr));
  statement_.reset(raw);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) throw error_of(database_->handle(), database_->file());
  return code == SQLITE_ROW;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text), size);
}

// Gives the error of the step before once more, which `step` has already thrown.
void Statement::reset() { sqlite3_reset(statement_.get()); }

void Statement::put(int index, std::int64_t value) { check(sqlite3_bind_int64(statement_.get(), index, value)); }
void Statement::put(int index, double value) { check(sqlite3_bind_double(statement_.get(), index, value)); }
void Statement::put(int index, std::string_view value) {
  check(sqlite3_bind_text(statement_.get(), index, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT));
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) throw error_of(database_->handle(), database_->file());
}

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  database.run(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  // SQLite itself has rolled back after some errors, such as a full disk.
  if (sqlite3_get_autocommit(database_.handle()) == 0)
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() { database_.run("COMMIT"); }

}  // namespace hbench::store
