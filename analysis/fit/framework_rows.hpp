#pragma once

/// Steps of frameworks that a sweep has measured, as rows that a profile of that machine is fitted to. Pure.

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/points/points.hpp"

namespace hbench {

struct FrameworkRows {
  std::vector<CaseResult> rows;
  std::size_t others = 0;  ///< measured steps of frameworks that no row is made of
};

/// Returns the steps on several ranks of the machine that has measured last, as rows of `profile`: the throughput, and
/// that of one process alone which took turns with it, so that a row is off by what its efficiency is. Left out are
/// those without an efficiency, those of other machines, and those with parameter servers, which shared the machine
/// with workers and would have nodes of their own.
FrameworkRows framework_rows(const std::vector<CaseResult>& results, const std::vector<CaseResult>& baselines,
                             const std::string& profile);

}  // namespace hbench
