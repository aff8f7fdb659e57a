#pragma once

/// What `hbench collective` prints and writes.

#include <string>
#include <vector>

#include "bench/collective/plan.hpp"
#include "bench/collective/request.hpp"

namespace hbench {

/// What the results answer.
struct CollectiveAnswer {
  const CollectiveOptions& options;
  const CollectivePlan& plan;
  const Run& run;
  const std::vector<Profile>& clusters;  ///< on which was simulated
};

/// Prints the results as they were asked for, writes the file, and returns the exit code that they mean. After Ctrl-C
/// these are the results of the cases that have ended; without any it prints nothing.
ExitCode publish(const CollectiveAnswer& answer, std::vector<CaseResult> results);

/// Returns a line for each case, what is left out, and how long all of it takes.
std::string plan_in_words(const CollectivePlan& plan, double seconds);

}  // namespace hbench
