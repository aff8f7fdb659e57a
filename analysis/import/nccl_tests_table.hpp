#pragma once

/// The table of nccl-tests: its columns by their names, and its rows. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/nccl_tests_row.hpp"

namespace hbench {

/// A column, by its name.
struct NcclTestsColumn {
  enum class Field : std::uint8_t { size, count, type, redop, root, time, algbw, busbw, wrong, other };

  Field field = Field::other;
  std::string name;
  double unit = 1;  ///< to seconds and B/s
};

class NcclTestsTable {
 public:
  /// The usual columns, for rows that stand without names.
  NcclTestsTable() = default;
  /// The columns of a line that names them; none for other lines. `above` is the line before it, which says what is in
  /// place.
  static std::optional<NcclTestsTable> of_names(std::string_view line, std::string_view above);

  /// Takes the units below the names, `(B) (elements) (us) ...`; other lines change nothing. Returns what is wrong with
  /// them, or nothing.
  std::string read_units(std::string_view line);

  struct Read {
    NcclTestsRow row;   ///< without its place
    std::string fault;  ///< why it cannot be used; empty where it can
  };
  /// The row of a line; none where it is not one.
  std::optional<Read> read(std::string_view line) const;

  bool has_cpu_times() const { return cpu_times_; }

 private:
  using Columns = std::vector<NcclTestsColumn>;
  using Words = std::vector<std::string_view>;

  Columns columns_for(const Words& words, std::size_t type) const;
  std::optional<Read> read_words(const Words& words) const;
  std::string fault_of_beginning(std::string_view line) const;

  std::string label_;  ///< of the launcher
  Columns columns_;
  bool in_place_only_ = false, cpu_times_ = false;
};

}  // namespace hbench
