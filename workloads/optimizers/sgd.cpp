#include "workloads/optimizers/optimizer.hpp"

namespace hbench {

extern const Optimizer kSgd;
constinit const Optimizer kSgd{
    .name = "sgd",
    .summary = "stochastic gradient descent: x = x - rate g",
    .citation = "Robbins and Monro, A Stochastic Approximation Method, Ann. Math. Stat. 22(3), 1951",
    .apply = [](std::span<const double>, const OptimizerStep& step, Numbers& parameters, const Numbers& gradients,
                std::span<Numbers* const>) { parameters.add(gradients, -(step.rate / step.divisor)); }};

}  // namespace hbench
