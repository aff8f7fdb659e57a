#pragma once

#include <cstdint>
#include <string>

#include "workloads/step/timeline.hpp"

namespace hbench {

/// Returns why `ranks` ranks, each a process with gradients of its own, do not fit into `available` bytes; an empty
/// string where they do.
std::string refuse_emulated_memory(int ranks, const StepTimeline& timeline, std::int64_t available);

}  // namespace hbench
