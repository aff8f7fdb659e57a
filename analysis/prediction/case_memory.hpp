#pragma once

/// The bytes of a predicted step: of its numbers, of what it keeps on one GPU, and whether the GPU has room for it.

#include <cstdint>
#include <string>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/data.hpp"
#include "workloads/methods/step_plan.hpp"
#include "workloads/step/step_memory.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {

/// The numbers of a case's training: in its precision, else in that of the rate of its cluster, by its framework.
/// `catalog` holds what the case names.
NumberBytes number_bytes_of(const Case& asked, const Catalog& catalog);

/// What a step of a case keeps on one GPU of its cluster. `catalog` as above.
StepMemory memory_of(const PlannedCase& planned, const Catalog& catalog);

/// Adds it to a prediction's samples; what is not known is left out.
void add_memory(CaseResult& result, const StepMemory& memory);

/// Why the state of the model, or a step, has no room on a GPU, with what would have: one sentence; empty where it has
/// room, or nobody knows how much memory the GPU has. What was measured on the GPU had room.
std::string refuse_memory(const PlannedCase& planned, const Catalog& catalog);

/// Returns why `ranks` ranks, each a process with gradients of its own, and parameters where they travel, do not fit
/// into `available` bytes; an empty string where they do.
std::string refuse_emulated_memory(int ranks, const StepTimeline& timeline, const StepPlan& plan,
                                   std::int64_t available);

}  // namespace hbench
