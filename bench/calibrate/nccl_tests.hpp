#pragma once

/// What nccl-tests (or rccl-tests) printed, as a measured curve. Pure.

#include <string_view>

#include "bench/calibrate/imported_curve.hpp"

namespace hbench {

/// Whether a text is the output of nccl-tests, and no table of steps.
bool is_nccl_tests_output(std::string_view text);

/// Reads the output of one test, also behind the prefixes of mpirun and Slurm (`0:`, `[1,0]<stdout>:`). Ranks and nodes
/// are those of its list of devices, unless they are given (not 0); the algorithm is `vendor`, and the collective is
/// that of its name, or what its bus bandwidths and columns say. Sizes of 0 are left out, and so is what `keep_sizes`
/// leaves out. \throws Error (usage) with file and line: for a size whose data were wrong, figures that are none, two
/// tests in one file, a collective that profiles do not have, and where ranks or nodes are unknown.
ImportedCurve parse_nccl_tests(std::string_view text, std::string_view file_name, int ranks = 0, int nodes = 0);

}  // namespace hbench
