#include "workloads/optimizers/optimizer.hpp"

namespace hbench {
namespace {

constexpr NumberField kFields[] = {
    {.name = "momentum", .standard = 0.9, .smallest = 0, .largest = 0.9999, .whole = false}};

/// m = momentum m + g
void gain(double momentum, const OptimizerStep& step, const Numbers& gradients, Numbers& velocity) {
  velocity.multiply(momentum);
  velocity.add(gradients, 1 / step.divisor);
}

}  // namespace

extern const Optimizer kMomentum;
/// As `torch.optim.SGD(momentum=0.9)`, without dampening.
constinit const Optimizer kMomentum{
    .name = "momentum",
    .summary = "SGD with momentum: m = momentum m + g, x = x - rate m",
    .citation = "Polyak, Some methods of speeding up the convergence of iteration methods, 1964; as PyTorch writes it",
    .fields = kFields,
    .state = 1,
    .apply = [](std::span<const double> values, const OptimizerStep& step, Numbers& parameters,
                const Numbers& gradients, std::span<Numbers* const> state) {
      gain(values[0], step, gradients, *state[0]);
      parameters.add(*state[0], -step.rate);
    }};

extern const Optimizer kNesterov;
/// As `torch.optim.SGD(momentum=0.9, nesterov=True)`.
constinit const Optimizer kNesterov{
    .name = "nesterov",
    .summary = "SGD with Nesterov's momentum: m = momentum m + g, x = x - rate (g + momentum m)",
    .citation = "Sutskever et al., On the importance of initialization and momentum in deep learning, ICML 2013",
    .fields = kFields,
    .state = 1,
    .apply = [](std::span<const double> values, const OptimizerStep& step, Numbers& parameters,
                const Numbers& gradients, std::span<Numbers* const> state) {
      gain(values[0], step, gradients, *state[0]);
      parameters.add(gradients, -step.rate / step.divisor);
      parameters.add(*state[0], -step.rate * values[0]);
    }};

}  // namespace hbench
