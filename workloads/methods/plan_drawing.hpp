#pragma once

#include <string>

#include "workloads/methods/step_plan.hpp"

namespace hbench {

/// Draws an iteration as two lanes of one rank, since all are alike: its compute stream, and below it each collective
/// from where the first of it may leave. Widths are no times. Lines of at most 80 columns, each with its end.
std::string draw(const StepPlan& plan);

}  // namespace hbench
