#pragma once

/// The family of optimizers: how a step changes parameters by their gradients. Arithmetic alone, of each parameter for
/// itself, so that a rank may do it for a part of them.
///
/// One optimizer is one constant of `optimizer.cpp`, listed in the table there.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/parameters.hpp"
#include "workloads/optimizers/numbers.hpp"

namespace hbench {

/// What a step is done with, beside the numbers.
struct OptimizerStep {
  double rate = 0;          ///< of learning
  double divisor = 1;       ///< the optimizer's gradient is the one that is given, divided by this
  std::int64_t number = 1;  ///< of the step, from 1
  std::int64_t frozen = 0;  ///< the last step that has changed the variance, of one by momenta
};

/// The two halves of a step whose momentum travels in place of the gradient, while the variance stays as it is.
struct MomentumStep {
  /// The gradients become the momentum with them in it; `momentum` is the one before, and stays.
  void (*gain)(std::span<const double> values, const OptimizerStep& step, const Numbers& momentum,
               Numbers& gradients) = nullptr;
  /// A step by these momenta, whose mean is that of the next step. Arguments as of `Optimizer::apply`.
  void (*apply)(std::span<const double> values, const OptimizerStep& step, Numbers& parameters, const Numbers& momenta,
                std::span<Numbers* const> state) = nullptr;
};

/// One entry of the family.
struct Optimizer {
  std::string_view name;
  std::string_view summary;  ///< its formula
  std::string_view citation;
  std::span<const NumberField> fields = {};
  double rate = 0.01;  ///< of learning, where none is given
  int state = 0;       ///< numbers that are kept for each parameter from step to step, 0 before the first
  /// `values` are those of the fields, `state` as many numbers as there are parameters, `Optimizer::state` times.
  void (*apply)(std::span<const double> values, const OptimizerStep& step, Numbers& parameters,
                const Numbers& gradients, std::span<Numbers* const> state) = nullptr;
  /// Null where there is no momentum apart from a variance. The momentum is the first state.
  const MomentumStep* momentum = nullptr;
};

/// The table, in the order in which `hbench list optimizers` prints it.
std::span<const Optimizer* const> optimizers();

/// An optimizer with the values of its fields.
struct OptimizerChoice {
  const Optimizer* optimizer = nullptr;
  std::vector<double> values = {};  ///< one for each field

  /// `adam`, `momentum:0.8`: without the values at its end that are the standard ones.
  std::string text() const;
  /// Plain stochastic gradient descent, which a job does where nothing else is said.
  bool is_sgd() const;
  int state() const { return optimizer->state; }
  void apply(const OptimizerStep& step, Numbers& parameters, const Numbers& gradients,
             std::span<Numbers* const> state) const;
};

/// `name` or `name:value:value`. \throws Error (usage), with a suggestion, or for a value out of its field's range.
OptimizerChoice parse_optimizer(std::string_view text);

}  // namespace hbench
