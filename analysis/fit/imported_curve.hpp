#pragma once

/// Times of a collective that somebody has measured, whatever printed them, as a curve for a profile. Pure.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/format.hpp"
#include "collectives/network/curve.hpp"

namespace hbench {

struct ImportedCurve {
  MeasuredCurve curve;             ///< without its source
  std::vector<std::string> notes;  ///< what was left out, and why, in sentences
  std::string gpu;                 ///< the models that it was measured on; empty where it does not say
};

/// The least number of sizes that a curve needs.
inline constexpr std::size_t kFewestSizes = 4;

/// Gives `imported` the times of each size, in seconds, but what took longer than a larger size (`kMostFall`), which
/// the first one often does; a note names these. The number of sizes that are left.
std::size_t keep_sizes(ImportedCurve& imported, const std::map<std::int64_t, double>& times);

/// The curve of what `hbench import` reads: of each size the sooner of both ways, by the library's own algorithm. Of
/// several collectives the hints choose one. \throws Error (usage) that names the file: for a size whose data were
/// wrong, where ranks or nodes are unknown, for several tests, and too few sizes.
ImportedCurve curve_of(ImportedOutput output, std::string_view file_name, const ImportHints& hints);

}  // namespace hbench
