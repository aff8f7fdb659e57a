#pragma once

/// What nccl-tests (or rccl-tests) measured, whichever of its formats says it. Pure.

#include <cstdint>
#include <optional>
#include <set>
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
  PrintedNumber seconds;          ///< above 0: the mean of the iterations
  PrintedNumber algbw, busbw;     ///< B/s
  std::string wrong;              ///< elements, as printed; older versions print the largest error; `N/A`: not checked
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

/// One test: one table.
struct NcclTestsOutput {
  std::set<std::string> names;  ///< the programs that are named before or in it; older versions print none
  int ranks = 0, nodes = 0;     ///< of its list of devices; 0 without one, with gaps, or of several groups
  int alone = 0;                ///< processes that all have a rank 0: they do not know each other
  std::set<std::string> gpus;   ///< the models in that list
  std::string nccl;             ///< the version of the library, such as `2.28.7`; empty where it does not say
  std::vector<NcclTestsRow> rows;
  std::vector<std::string> left_out;  ///< rows that cannot be read, and why, in sentences
};

/// nccl-tests' word for an operation; its `none` is no operation, and becomes empty.
std::string operation_of(std::string_view redop);

/// `2.28.7` of NCCL_VERSION_CODE `22807`; empty for what is none.
std::string nccl_version_text(std::string_view code);

/// Whether a text has a table of nccl-tests.
bool is_nccl_tests_output(std::string_view text);

/// The tests of a text in their order, behind any label of a launcher. \throws Error (usage) with file and line: for
/// times of the CPU, and columns of unknown units.
std::vector<NcclTestsOutput> read_nccl_tests(std::string_view text, std::string_view file_name);

}  // namespace hbench
