#pragma once

#include <string_view>

#include "bench/submit/engine.hpp"

namespace hbench {

/// How a job is, from what `kubectl get mpijobs,pods --output=json` printed: the condition of the MPIJob, with its
/// reason and message, and what keeps the first of its pods that is not well: `Created (hbench-worker-1: Unschedulable:
/// ...)`. An answer without the job means that somebody has deleted it. Text that is no answer tells nothing: waiting.
JobState mpijob_state(std::string_view printed);

}  // namespace hbench
