#pragma once

/// Times of a collective that somebody has measured, by nccl-tests or by `hbench collective`, as a curve for a profile.
/// Pure.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collectives/network/curve.hpp"

namespace hbench {

struct ImportedCurve {
  MeasuredCurve curve;             ///< without its source
  std::vector<std::string> notes;  ///< what was left out, and why, in sentences
};

/// A curve needs so many sizes.
inline constexpr std::size_t kFewestSizes = 4;

/// Gives `imported` the times of each size, in seconds, but what took longer than a larger size (`kMostFall`), which
/// the first one often does; a note names these. The number of sizes that are left.
std::size_t keep_sizes(ImportedCurve& imported, const std::map<std::int64_t, double>& times);

}  // namespace hbench
