#pragma once

/// One size of a table of nccl-tests, as it was printed.

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

/// nccl-tests' word for an operation; its `none` is no operation, and becomes empty.
std::string operation_of(std::string_view redop);

}  // namespace hbench
