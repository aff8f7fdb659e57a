#pragma once

/// SQLite's C interface as values that clean up after themselves. Everything throws `Error` as
/// `errors.hpp` says. Not thread-safe. `sqlite3.h` stays in this folder.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace hbench::store {

/// An open connection.
class Database {
 public:
  /// Opens `file`, and makes it when `create`. A file without write permission is opened for reading.
  /// Locks of other processes are waited for as long as `patience`.
  Database(const std::filesystem::path& file, bool create, std::chrono::milliseconds patience);

  /// A private copy in memory. Errors still name the original file.
  Database copied_to_memory();

  /// Runs one or more statements that give no rows.
  void run(std::string_view sql);
  /// The first column of the first row.
  std::int64_t integer(std::string_view sql);
  std::string text(std::string_view sql);

  bool has_table(std::string_view name);
  bool read_only() const;
  std::int64_t last_row_id() const;
  const std::string& file() const { return file_; }
  sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  explicit Database(std::string file) : file_(std::move(file)) {}
  void open(const std::string& name, int flags);

  std::string file_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A prepared statement. Must not outlive its database.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  /// Sets the parameters from the first to the last and starts anew.
  template <class... Values>
  Statement& bind(const Values&... values) {
    reset();
    int index = 0;
    (put(++index, values), ...);
    return *this;
  }
  /// The same, one parameter after another: `begin`, then `add` for each.
  Statement& begin() {
    reset();
    added_ = 0;
    return *this;
  }
  template <class Value>
  Statement& add(const Value& value) {
    put(++added_, value);
    return *this;
  }
  /// Runs to the end with the parameters that it has; for statements without rows.
  void finish() {
    step();
    reset();
  }
  /// Runs to the end with these parameters; for statements without rows.
  template <class... Values>
  void run(const Values&... values) {
    bind(values...);
    finish();
  }

  /// To the next row; false after the last.
  bool step();
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  void reset();
  void put(int index, std::int64_t value);
  void put(int index, int value) { put(index, std::int64_t{value}); }
  void put(int index, bool value) { put(index, std::int64_t{value}); }
  void put(int index, double value);
  void put(int index, std::string_view value);
  void put(int index, const std::string& value) { put(index, std::string_view(value)); }
  void check(int code) const;

  Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int added_ = 0;  ///< parameters, since `begin`
};

/// Rolls back when it is left without `commit`.
class Transaction {
 public:
  enum class Kind { read, write };  ///< write takes the lock at once, so that no later statement waits for it
  Transaction(Database& database, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
};

}  // namespace hbench::store
