#include <cmath>

#include "workloads/optimizers/optimizer.hpp"

namespace hbench {
namespace {

/// PyTorch's defaults, which are the paper's.
constexpr NumberField kBeta1{.name = "beta1", .standard = 0.9, .smallest = 0, .largest = 0.999'999, .whole = false};
constexpr NumberField kBeta2{.name = "beta2", .standard = 0.999, .smallest = 0, .largest = 0.999'999, .whole = false};
constexpr NumberField kEpsilon{.name = "epsilon", .standard = 1e-8, .smallest = 1e-30, .largest = 1, .whole = false};
constexpr double kRate = 1e-3;

constexpr NumberField kAdamFields[] = {kBeta1, kBeta2, kEpsilon};
constexpr NumberField kAdamWFields[] = {
    kBeta1, kBeta2, kEpsilon, {.name = "decay", .standard = 0.01, .smallest = 0, .largest = 100, .whole = false}};

/// `values` are beta1, beta2 and epsilon.
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

void gain_momentum(std::span<const double> values, const OptimizerStep& step, const Numbers& momentum,
                   Numbers& gradients) {
  gradients.multiply((1 - values[0]) / step.divisor);
  gradients.add(momentum, values[0]);
}

/// As `apply_adam`, but the square keeps the correction of the step in which it has changed last.
void apply_momenta(std::span<const double> values, const OptimizerStep& step, Numbers& parameters,
                   const Numbers& momenta, std::span<Numbers* const> state) {
  Numbers& mean = *state[0];
  mean.assign(momenta);
  mean.multiply(1 / step.divisor);
  const double of_mean = 1 - std::pow(values[0], static_cast<double>(step.number));
  const double of_square = 1 - std::pow(values[1], static_cast<double>(step.frozen));
  parameters.add_ratio(mean, *state[1], -step.rate / of_mean, std::sqrt(of_square), values[2]);
}

constexpr MomentumStep kMomentumStep{.gain = gain_momentum, .apply = apply_momenta};

}  // namespace

extern const Optimizer kAdam;
/// As `torch.optim.Adam`.
constinit const Optimizer kAdam{
    .name = "adam",
    .summary = "means m of g and v of g^2, corrected in the first steps: x = x - rate m / (sqrt(v) + epsilon)",
    .citation = "Kingma and Ba, Adam: A Method for Stochastic Optimization, ICLR 2015",
    .fields = kAdamFields,
    .rate = kRate,
    .state = 2,
    .apply = apply_adam,
    .momentum = &kMomentumStep};

extern const Optimizer kAdamW;
/// As `torch.optim.AdamW`.
constinit const Optimizer kAdamW{
    .name = "adamw",
    .summary = "Adam with weight decay apart from the gradient: x = (1 - rate decay) x before each step",
    .citation = "Loshchilov and Hutter, Decoupled Weight Decay Regularization, ICLR 2019",
    .fields = kAdamWFields,
    .rate = kRate,
    .state = 2,
    .apply = [](std::span<const double> values, const OptimizerStep& step, Numbers& parameters,
                const Numbers& gradients, std::span<Numbers* const> state) {
      parameters.multiply(1 - step.rate * values[3]);
      apply_adam(values.first(3), step, parameters, gradients, state);
    }};

}  // namespace hbench
