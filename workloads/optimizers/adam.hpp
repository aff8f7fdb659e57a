#pragma once

/// What Adam and AdamW share.

#include "workloads/optimizers/optimizer.hpp"

namespace hbench {

/// PyTorch's defaults, which are the paper's.
inline constexpr NumberField kAdamBeta1{
    .name = "beta1", .standard = 0.9, .smallest = 0, .largest = 0.999'999, .whole = false};
inline constexpr NumberField kAdamBeta2{
    .name = "beta2", .standard = 0.999, .smallest = 0, .largest = 0.999'999, .whole = false};
inline constexpr NumberField kAdamEpsilon{
    .name = "epsilon", .standard = 1e-8, .smallest = 1e-30, .largest = 1, .whole = false};
inline constexpr double kAdamRate = 1e-3;

/// `values` are beta1, beta2 and epsilon.
void apply_adam(std::span<const double> values, const OptimizerStep& step, Numbers& parameters,
                const Numbers& gradients, std::span<Numbers* const> state);

}  // namespace hbench
