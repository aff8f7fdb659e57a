#pragma once

/// Reads `[[collectives]]` of a profile; private to the profile parser.

#include <string_view>
#include <vector>

#include "collectives/base/toml_file.hpp"
#include "collectives/network/curve.hpp"

namespace hbench {

/// The curves of a profile, in file order; none where it has none. `times` is a list of pairs `["64KiB", "44.6 us"]`.
/// \throws Error (usage) with file and line: for keys that are unknown or missing, names that nothing knows, a size or
/// time without its unit, sizes that do not ascend, times that fall (`kMostFall`), and two curves of one question.
std::vector<MeasuredCurve> read_curves(const toml::table& profile, std::string_view file_name);

}  // namespace hbench
