#pragma once

/// What nccl-tests (or rccl-tests) printed, as a measured curve. Pure.

#include <string_view>

#include "bench/calibrate/imported_curve.hpp"

namespace hbench {

/// The curve of one test (`read_nccl_tests`). Ranks and nodes are those of its list of devices, unless they are given
/// (not 0); the algorithm is `vendor`. Sizes of 0 are left out, and so is what `keep_sizes` leaves out. \throws Error
/// (usage) with file and line: also for a size whose data were wrong, and where ranks or nodes are unknown.
ImportedCurve parse_nccl_tests(std::string_view text, std::string_view file_name, int ranks = 0, int nodes = 0);

}  // namespace hbench
