#pragma once

/// The table of nccl-tests: its columns by their names, and its rows. Pure.
///
/// One size of a table of nccl-tests, as it was printed.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hbench {

/// A number that was printed with few digits.
struct PrintedNumber {
  double value = 0;
  double slack = 0;  ///< by which rounding may have changed it

  /// Of a finite number; none for other words.
  static std::optional<PrintedNumber> of(std::string_view word);
  PrintedNumber operator*(double unit) const { return {value * unit, slack * unit}; }
};

/// One way of timing a size.
struct NcclTestsTiming {
  PrintedNumber seconds;          ///< above 0: the mean of the iterations; 0 of a table without a column of times
  PrintedNumber algbw, busbw;     ///< B/s
  std::string wrong;              ///< elements, as printed; older versions print the largest error; `N/A`: not checked
  double bits = 0;                ///< that differed where the same was computed again (`#bitdiff`)
  std::vector<double> each = {};  ///< seconds of each iteration, where it says them

  /// How many elements were wrong; none where nobody looked.
  std::optional<double> wrong_elements() const;
  /// The times of the iterations, or the one that stands for them.
  std::vector<double> iterations() const { return each.empty() ? std::vector{seconds.value} : each; }
};

struct NcclTestsRow {
  std::string where;  ///< for errors: `ar.txt:13`
  std::int64_t bytes = 0;
  std::int64_t count = 0;  ///< elements of the buffer, or of one rank's share of it; 0 where it does not say
  std::string type;
  std::optional<std::string> redop;  ///< empty where nothing is reduced; none where there is no such column
  int root = -1;                     ///< -1: the collective has none
  std::optional<NcclTestsTiming> out_of_place, in_place;

  /// Those that there are.
  std::vector<const NcclTestsTiming*> timings() const;
};

/// nccl-tests' word for an operation; its `none` is no operation, and becomes empty.
std::string operation_of(std::string_view redop);

/// A column, by its name.
struct NcclTestsColumn {
  enum class Field : std::uint8_t { size, count, type, redop, root, time, algbw, busbw, wrong, bits, other };

  Field field = Field::other;
  std::string name;
  double unit = 1;  ///< to seconds and B/s
};

/// Returns whether a terminal has wrapped the line that names columns, so that it ends in the line below.
bool is_wrapped_head(std::string_view line, std::string_view below);

class NcclTestsTable {
 public:
  /// The usual columns, for rows that stand without names.
  NcclTestsTable() = default;
  /// The columns of a line that names them, of which time and algbw may be missing, with their units behind them or
  /// not; none for other lines. `above` is the line before it, which says what is in place.
  static std::optional<NcclTestsTable> of_names(std::string_view line, std::string_view above);

  /// Takes the units below the names, `(B) (elements) (us) ...`; other lines change nothing. Returns what is wrong with
  /// them, or nothing.
  std::string read_units(std::string_view line);

  struct Read {
    NcclTestsRow row;   ///< without its place; without timings where it cannot be used
    std::string fault;  ///< why it, or one way of timing it, cannot be used; empty where all can
  };
  /// The row of a line; none where it is not one.
  std::optional<Read> read(std::string_view line) const;

  /// Says what is wrong with the units behind the names; empty where nothing is.
  const std::string& fault() const { return fault_; }
  bool has_cpu_times() const { return cpu_times_; }
  bool has(NcclTestsColumn::Field field) const {
    return std::ranges::find(columns_, field, &NcclTestsColumn::field) != columns_.end();
  }

 private:
  using Columns = std::vector<NcclTestsColumn>;
  using Words = std::vector<std::string_view>;

  Columns columns_for(const Words& words, std::size_t type) const;
  std::optional<Read> read_words(const Words& words) const;
  std::string fault_of_beginning(std::string_view line) const;

  std::string label_;  ///< of the launcher
  std::string fault_;
  Columns columns_;
  bool in_place_only_ = false, cpu_times_ = false;
};

}  // namespace hbench
