#include "workloads/optimizers/outer_step.hpp"

#include <utility>

namespace hbench {

OuterStep::OuterStep(OuterUpdate update, Numbers& original, std::vector<Numbers*> state)
    : update_(std::move(update)), original_(original), state_(std::move(state)) {}

void OuterStep::take_deltas(const Numbers& parameters, Numbers& deltas) const {
  deltas.assign(original_);
  deltas.add(parameters, -1);
}

void OuterStep::apply(const Numbers& sum_of_deltas, int ranks, Numbers& parameters) {
  const OptimizerStep step{.rate = update_.rate, .divisor = static_cast<double>(ranks), .number = ++steps_};
  update_.optimizer.apply(step, original_, sum_of_deltas, state_);
  if (update_.own_share == 0) return parameters.assign(original_);
  parameters.multiply(update_.own_share);
  parameters.add(original_, 1 - update_.own_share);
}

}  // namespace hbench
