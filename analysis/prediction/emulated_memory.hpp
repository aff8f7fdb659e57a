#pragma once

#include <cstdint>
#include <string>

#include "workloads/step/timeline.hpp"

namespace hbench {

/// Why so many ranks, each a process with gradients of its own, do not fit into `available` bytes; empty where they do.
std::string refuse_emulated_memory(int ranks, const StepTimeline& timeline, std::int64_t available);

}  // namespace hbench
