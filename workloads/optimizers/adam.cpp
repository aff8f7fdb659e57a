#include "workloads/optimizers/adam.hpp"

#include <cmath>

namespace hbench {
namespace {

constexpr NumberField kFields[] = {kAdamBeta1, kAdamBeta2, kAdamEpsilon};

}  // namespace

void apply_adam(std::span<const double> values, const OptimizerStep& step, Numbers& parameters,
                const Numbers& gradients, std::span<Numbers* const> state) {
  const double beta1 = values[0], beta2 = values[1], epsilon = values[2];
  const auto steps = static_cast<double>(step.number);
  Numbers &mean = *state[0], &square = *state[1];
  mean.multiply(beta1);
  mean.add(gradients, (1 - beta1) / step.divisor);
  square.multiply(beta2);
  square.add_product(gradients, gradients, (1 - beta2) / step.divisor / step.divisor);
  // Both begin at 0, and are too small by as much in the first steps.
  const double of_mean = 1 - std::pow(beta1, steps), of_square = 1 - std::pow(beta2, steps);
  parameters.add_ratio(mean, square, -step.rate / of_mean, std::sqrt(of_square), epsilon);
}

extern const Optimizer kAdam;
/// As `torch.optim.Adam`.
constinit const Optimizer kAdam{
    .name = "adam",
    .summary = "means m of g and v of g^2, corrected in the first steps: x = x - rate m / (sqrt(v) + epsilon)",
    .citation = "Kingma and Ba, Adam: A Method for Stochastic Optimization, ICLR 2015",
    .fields = kFields,
    .rate = kAdamRate,
    .state = 2,
    .apply = apply_adam};

}  // namespace hbench
