#pragma once

#include <cstdint>
#include <string>

#include "workloads/methods/step_plan.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {

/// Returns why `ranks` ranks, each a process with gradients of its own, and parameters where they travel, do not fit
/// into `available` bytes; an empty string where they do.
std::string refuse_emulated_memory(int ranks, const StepTimeline& timeline, const StepPlan& plan,
                                   std::int64_t available);

}  // namespace hbench
