#include <array>

#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "workloads/optimizers/optimizer.hpp"

namespace hbench {

extern const Optimizer kSgd;
extern const Optimizer kMomentum;
extern const Optimizer kNesterov;
extern const Optimizer kAdam;
extern const Optimizer kAdamW;

std::span<const Optimizer* const> optimizers() {
  static constexpr std::array kTable{&kSgd, &kMomentum, &kNesterov, &kAdam, &kAdamW};
  return kTable;
}

std::string OptimizerChoice::text() const { return text_with_numbers(optimizer->name, optimizer->fields, values); }

bool OptimizerChoice::is_sgd() const { return optimizer == &kSgd; }

void OptimizerChoice::apply(const OptimizerStep& step, Numbers& parameters, const Numbers& gradients,
                            std::span<Numbers* const> state) const {
  optimizer->apply(values, step, parameters, gradients, state);
}

OptimizerChoice parse_optimizer(std::string_view text) {
  const Optimizer& optimizer = find_entry(optimizers(), split(text, ':').front(), "optimizer");
  return {.optimizer = &optimizer, .values = parse_numbers(text, optimizer.name, optimizer.fields)};
}

}  // namespace hbench
