#pragma once

/// What a program printed of a collective, as a measured curve. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "analysis/fit/imported_curve.hpp"
#include "collectives/network/profile.hpp"

namespace hbench {

/// The times in place of the one algorithm, collective and number of ranks that `text` has; compressed ones and
/// parameter servers have no curves. Nodes are those that the ranks were seen on, unless they are given (not 0).
/// \throws Error (usage) that names the file: for simulated, failed or wrong rows, several algorithms or counts, too
/// few sizes, and JSON that is none.
ImportedCurve parse_collective_output(std::string_view text, std::string_view file_name, int ranks = 0, int nodes = 0);

/// Returns the curve of a measured collective, where the text of a file is one: what `hbench collective` printed, or
/// what `hbench import` reads. \throws Error as those that read it.
std::optional<ImportedCurve> read_curve(const std::string& text, const std::string& file, const ImportHints& hints);

/// Notes where the curve was measured on other GPUs than those of the profile.
void note_other_gpu(ImportedCurve& imported, const Profile& profile);

}  // namespace hbench
