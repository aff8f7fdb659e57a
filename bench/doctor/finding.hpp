#pragma once

/// What `hbench doctor` says: findings, one or two lines each.

#include <string>
#include <vector>

#include "collectives/executors/executor.hpp"

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

/// A mark (`ok`, `!!`, or `--` for what is optional), the thing, its state; the cure below it.
std::string findings_text(const std::vector<Finding>& findings);

/// Those that are to be mended.
int problems_among(const std::vector<Finding>& findings);

}  // namespace hbench
