#pragma once

#include <vector>

#include "collectives/base/lanes.hpp"
#include "workloads/methods/method.hpp"
#include "workloads/methods/step_plan.hpp"

namespace hbench {

/// An iteration as two lanes of one rank, since all are alike: its compute stream, and below it each collective
/// from where the first of it may leave. Widths are no times. At most 80 columns wide.
Lanes drawn(const StepPlan& plan);

/// An iteration of a method as pictures with titles: where it divides the model, its stages, and then what each replica
/// does.
std::vector<Lanes> drawn(const MethodChoice& method);

}  // namespace hbench
