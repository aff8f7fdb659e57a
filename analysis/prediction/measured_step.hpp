#pragma once

/// A step of the very training that somebody has measured, and what it says of its steps on other numbers of GPUs.

#include <span>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/data.hpp"
#include "analysis/prediction/request.hpp"

namespace hbench {

/// The share of what one step is off that is taken for what others of the same training, cluster and framework are off,
/// on logarithms. Of those within one node a step between nodes tells as much of that as it does not communicate. Of
/// 196 pairs of published steps, one of which is of several nodes, the other is 8.2 % off without it, 4.6 % with it;
/// 0.7 to 1 do as well (`OneMeasuredStep`).
inline constexpr double kShiftByStep = 0.85;

/// Gives `catalog`, of what the cases name, what the measured step says (`Catalog::measured_shift`), and the simulated
/// ones its source. \throws Error (usage) where they differ in more than their GPUs, or the step cannot be one of them.
void take_measured_step(std::span<PlannedCase> planned, Catalog& catalog, const MeasuredStep& measured);

}  // namespace hbench
