#pragma once

/// What `hbench collective --json` printed, as a measured curve. Pure.

#include <string_view>

#include "analysis/fit/imported_curve.hpp"

namespace hbench {

/// The times in place of the one algorithm, collective and number of ranks that `text` has; compressed ones and
/// parameter servers have no curves. Nodes are those that the ranks were seen on, unless they are given (not 0).
/// \throws Error (usage) that names the file: for simulated, failed or wrong rows, several algorithms or counts, too
/// few sizes, and JSON that is none.
ImportedCurve parse_collective_output(std::string_view text, std::string_view file_name, int ranks = 0, int nodes = 0);

}  // namespace hbench
