#pragma once

#include "collectives/base/lanes.hpp"
#include "workloads/methods/step_plan.hpp"

namespace hbench {

/// An iteration as two lanes of one rank, since all are alike: its compute stream, and below it each collective
/// from where the first of it may leave. Widths are no times. At most 80 columns wide.
Lanes drawn(const StepPlan& plan);

}  // namespace hbench
