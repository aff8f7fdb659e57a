#include "analysis/store/errors.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace hbench::store {
namespace {

Error full(std::string_view file) {
  return Error(ExitCode::environment, fmt::format("the disk is full: '{}' could not be written", file),
               "free some space and go on with --resume; what was stored before is safe");
}

Error read_only(std::string_view file) {
  return Error(ExitCode::environment, fmt::format("'{}' cannot be written: the file or its folder is read-only", file),
               "name a file in a folder of your own; SQLite also needs to create a journal beside the file");
}

Error damaged(std::string_view file, const char* detail) {
  return Error(ExitCode::wrong_data, fmt::format("'{}' is damaged: {}", file, detail),
               fmt::format("save what can be read: sqlite3 '{}' .recover | sqlite3 recovered.db", file));
}

}  // namespace

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

}  // namespace hbench::store
