#pragma once

/// What `hbench doctor` says: findings, a row each.

#include <string>
#include <vector>

#include "collectives/base/availability.hpp"
#include "reports/document/document.hpp"

namespace hbench {

/// One thing looked at.
struct Finding {
  std::string what;
  std::string state;
  std::string cure;       ///< empty: nothing to do
  bool optional = false;  ///< people may well do without
};

/// `good` where it is available; otherwise its reason and cure.
Finding finding_of(std::string what, const Availability& availability, std::string good);

/// A row each: a mark (`ok`, `!!` for a problem, `--` for what people may well do without), the thing, its state and,
/// in brackets, the fix.
Table findings_table(const std::vector<Finding>& findings);

/// Those that need a fix.
int problems_among(const std::vector<Finding>& findings);

}  // namespace hbench
