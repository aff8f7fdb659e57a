#pragma once

/// What nccl-tests (or rccl-tests) measured, whichever of its formats says it. Pure.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/format.hpp"
#include "analysis/import/nccl_tests_table.hpp"

namespace hbench {

/// One test: one table.
struct NcclTestsOutput {
  std::set<std::string> names;  ///< the programs that are named before or in it; older versions print none
  int ranks = 0, nodes = 0;     ///< of its list of devices; 0 without one, with gaps, or of several groups
  int alone = 0;                ///< processes that all have a rank 0: they do not know each other
  std::set<std::string> gpus;   ///< the models in that list
  std::string nccl;             ///< the version of the library, such as `2.28.7`; empty where it does not say
  std::vector<NcclTestsRow> rows;
  std::string failed_check;           ///< the footer's verdict that data were wrong; empty where there is none
  std::vector<std::string> left_out;  ///< rows that cannot be read, and why, in sentences
};

/// `2.28.7` of NCCL_VERSION_CODE `22807`; empty for what is none.
std::string nccl_version_text(std::string_view code);

/// Whether a text has a table of nccl-tests.
bool is_nccl_tests_output(std::string_view text);

/// Says which columns a table that is almost nccl-tests' lacks; empty for other texts.
std::string missing_columns(std::string_view text);

/// The tests of a text in their order, behind any label of a launcher. \throws Error (usage) with file and line: for
/// times of the CPU, and columns of unknown units.
std::vector<NcclTestsOutput> read_nccl_tests(std::string_view text, std::string_view file_name);

/// The collectives of nccl-tests, whichever of its formats they were read from: NCCL's own (`vendor`), by the executor
/// `nccl-tests`. Where elements were wrong the case has failed. A test that hbench has no collective of, or whose
/// collective nothing says, is left out where there are others. \throws Error (usage) for rows that do not agree with
/// themselves or with their test, for GPUs that exchanged nothing, and where no row is left.
ImportedOutput cases_of(std::vector<NcclTestsOutput> tests, std::string_view file_name, const ImportHints& hints);

}  // namespace hbench
