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
#include "collectives/device/device.hpp"

namespace hbench {

/// Parameters, gradients or an optimizer's state, in one or several pieces of some device's memory: one of hbench's
/// (`DeviceNumbers`), or of LibTorch's tensors (`engine/tensor_numbers.hpp`). Arithmetic is element by element;
/// operands are of one kind, and cut alike.
class Numbers {
 public:
  virtual ~Numbers() = default;
  virtual void assign(const Numbers& a) = 0;                                        ///< x = a
  virtual void multiply(double factor) = 0;                                         ///< x = factor x
  virtual void add(const Numbers& a, double factor) = 0;                            ///< x = x + factor a
  virtual void add_product(const Numbers& a, const Numbers& b, double factor) = 0;  ///< x = x + factor a b
  /// x = x + factor a / (sqrt(b) / root + epsilon)
  virtual void add_ratio(const Numbers& a, const Numbers& b, double factor, double root, double epsilon) = 0;
};

/// In memory of a device, which outlives them; the memory is somebody else's.
class DeviceNumbers final : public Numbers {
 public:
  explicit DeviceNumbers(std::span<float> values, Device& device = host_device()) : values_(values), device_(device) {}
  void assign(const Numbers& a) override;
  void multiply(double factor) override;
  void add(const Numbers& a, double factor) override;
  void add_product(const Numbers& a, const Numbers& b, double factor) override;
  void add_ratio(const Numbers& a, const Numbers& b, double factor, double root, double epsilon) override;

 private:
  std::span<float> values_;
  Device& device_;
};

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

/// The outer half of a training whose ranks step alone and then agree (DiLoCo: Douillard et al., arXiv:2311.08105,
/// 2023): what the parameters have changed by is a gradient to another optimizer.
struct OuterUpdate {
  OptimizerChoice optimizer;
  double rate = 1;
  /// The share of a rank's own parameters in those that it goes on with, of 1 (torchft: fragment_update_alpha).
  double own_share = 0;
};

/// One rank's, of all its parameters or of some. On each rank, after some steps: `take_deltas`, the sum of those over
/// all ranks, `apply`.
class OuterStep {
 public:
  /// \param original a copy of the parameters, in which all ranks agree; \param state as `Optimizer::apply` has it.
  /// Both outlive this, which changes them.
  OuterStep(OuterUpdate update, Numbers& original, std::vector<Numbers*> state);

  /// deltas = original - parameters
  void take_deltas(const Numbers& parameters, Numbers& deltas) const;
  /// The optimizer steps from the original by the mean of the deltas of `ranks`, and `parameters` become what it comes
  /// to.
  void apply(const Numbers& sum_of_deltas, int ranks, Numbers& parameters);
  /// What is not in memory of the caller.
  void walk(StateWalk& state) { state.number("outer steps", steps_); }

 private:
  OuterUpdate update_;
  Numbers& original_;
  std::vector<Numbers*> state_;
  std::int64_t steps_ = 0;
};

}  // namespace hbench
