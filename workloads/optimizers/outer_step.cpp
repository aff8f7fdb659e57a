#include "workloads/optimizers/outer_step.hpp"

#include <utility>

namespace hbench {

OuterStep::OuterStep(OuterUpdate update, Numbers& original, std::vector<Numbers*> state)
    : update_(std::move(update)), original_(original), state_(std::move(state)) {}

void OuterStep::take_deltas(const Numbers& parameters, Numbers& deltas) const {
  deltas.assign(original_);
  deltas.add(parameters, -1);
}

void OuterStep::apply(const Numbers& mean_deltas, Numbers& parameters) {
  update_.optimizer.apply({.rate = update_.rate, .number = ++steps_}, original_, mean_deltas, state_);
  if (update_.own_share == 0) return parameters.assign(original_);
  parameters.multiply(update_.own_share);
  parameters.add(original_, 1 - update_.own_share);
}

}  // namespace hbench
