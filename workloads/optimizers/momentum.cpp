#include "workloads/optimizers/optimizer.hpp"

namespace hbench {
namespace {

constexpr NumberField kFields[] = {
    {.name = "momentum", .standard = 0.9, .smallest = 0, .largest = 0.9999, .whole = false}};

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
      state[0]->multiply(values[0]);
      state[0]->add(gradients, 1 / step.divisor);
      parameters.add(*state[0], -step.rate);
    }};

}  // namespace hbench
