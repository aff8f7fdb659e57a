#pragma once

#include <string>

#include "workloads/methods/step_plan.hpp"

namespace hbench {

/// The task in the words of a refusal: `task 3 (all-reduce of gradients)`.
std::string name_of(const StepPlan& plan, int task);

/// Returns which task waits for what it cannot wait for, or uses memory beside another that writes it; empty where none
/// does.
std::string refuse_order(const StepPlan& plan);

}  // namespace hbench
