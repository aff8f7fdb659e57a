#pragma once

/// What nccl-tests (or rccl-tests) printed: for `hbench import`, and for curves of profiles. Pure.

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"

namespace hbench {

/// One way of timing a size.
struct NcclTestsTiming {
  double seconds = 0;             ///< above 0: the mean of the iterations
  std::vector<double> each = {};  ///< seconds of each iteration, where it says them
  double busbw = 0;               ///< B/s
  std::string wrong;              ///< elements, as printed; older versions print the largest error; `N/A`: not checked

  /// How many elements were wrong; none where nobody looked.
  std::optional<double> wrong_elements() const;
  /// The times of the iterations, or the one that stands for them.
  std::vector<double> iterations() const { return each.empty() ? std::vector{seconds} : each; }
};

struct NcclTestsRow {
  std::string where;  ///< for errors: `ar.txt:13`
  std::int64_t bytes = 0;
  std::string type;
  std::string redop;  ///< empty where nothing is reduced
  NcclTestsTiming out_of_place, in_place;
};

struct NcclTestsOutput {
  std::string test;            ///< `all_reduce_perf`; older versions do not say
  int ranks = 0, nodes = 0;    ///< of its list of devices; 0 without one, with gaps, or of several groups
  std::set<std::string> gpus;  ///< the models in that list
  std::string nccl;            ///< the version of the library, such as `2.28.7`; empty where it does not say
  std::vector<NcclTestsRow> rows;
};

/// nccl-tests' word for an operation; its `none` is no operation, and becomes empty.
std::string operation_of(std::string_view redop);

/// `2.28.7` of NCCL_VERSION_CODE `22807`; empty for what is none.
std::string nccl_version_text(std::string_view code);

/// Whether a text is the output of nccl-tests.
bool is_nccl_tests_output(std::string_view text);

/// Reads the output of one test, also behind the prefixes of mpirun and Slurm. \throws Error (usage) with file and
/// line: for figures that are none, and for two tests in one file.
NcclTestsOutput read_nccl_tests(std::string_view text, std::string_view file_name);

/// The collective of its name or, of older versions, what its bus bandwidths and columns say of so many ranks.
/// \throws Error (usage) that names the file: for one that hbench has not, and where there are no rows.
CollectiveKind collective_of(const NcclTestsOutput& output, int ranks, std::string_view file_name);

}  // namespace hbench
