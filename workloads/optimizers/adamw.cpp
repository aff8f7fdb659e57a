#include "workloads/optimizers/adam.hpp"

namespace hbench {
namespace {

constexpr NumberField kFields[] = {kAdamBeta1,
                                   kAdamBeta2,
                                   kAdamEpsilon,
                                   {.name = "decay", .standard = 0.01, .smallest = 0, .largest = 100, .whole = false}};

}  // namespace

extern const Optimizer kAdamW;
/// As `torch.optim.AdamW`.
constinit const Optimizer kAdamW{
    .name = "adamw",
    .summary = "Adam with weight decay apart from the gradient: x = (1 - rate decay) x before each step",
    .citation = "Loshchilov and Hutter, Decoupled Weight Decay Regularization, ICLR 2019",
    .fields = kFields,
    .rate = kAdamRate,
    .state = 2,
    .apply = [](std::span<const double> values, const OptimizerStep& step, Numbers& parameters,
                const Numbers& gradients, std::span<Numbers* const> state) {
      parameters.multiply(1 - step.rate * values[3]);
      apply_adam(values.first(3), step, parameters, gradients, state);
    }};

}  // namespace hbench
