#pragma once

/// What the efficiency of a timed case is relative to: an answer to its baseline question of the same run, at the same
/// place and from the same code. Pure.

#include <string>
#include <vector>

#include "analysis/records/records.hpp"

namespace hbench {

/// A baseline, or in one sentence why there is none.
struct BaselineChoice {
  const CaseResult* result = nullptr;  ///< one of the candidates
  std::string why_none;                ///< empty where there is one
};

/// Among several, the newest. `candidates` are oldest first; those that are not done,
/// or not one process without communication, are passed by.
BaselineChoice choose_baseline(const CaseResult& result, const std::vector<CaseResult>& candidates);

}  // namespace hbench
