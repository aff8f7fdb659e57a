#include "workloads/optimizers/optimizer.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

using Kind = NumbersChange::Kind;

const DeviceNumbers& of_device(const Numbers& numbers) { return static_cast<const DeviceNumbers&>(numbers); }

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

constexpr NumberField kFields[] = {
    {.name = "momentum", .standard = 0.9, .smallest = 0, .largest = 0.9999, .whole = false}};

/// m = momentum m + g
void gain(double momentum, const OptimizerStep& step, const Numbers& gradients, Numbers& velocity) {
  velocity.multiply(momentum);
  velocity.add(gradients, 1 / step.divisor);
}

}  // namespace

void DeviceNumbers::assign(const Numbers& a) {
  device_.copy(std::as_bytes(of_device(a).values_), std::as_writable_bytes(values_));
}

void DeviceNumbers::multiply(double factor) {
  device_.change({.kind = Kind::multiply, .factor = static_cast<float>(factor)}, values_);
}

void DeviceNumbers::add(const Numbers& a, double factor) {
  device_.change({.kind = Kind::add, .factor = static_cast<float>(factor), .a = of_device(a).values_}, values_);
}

void DeviceNumbers::add_product(const Numbers& a, const Numbers& b, double factor) {
  device_.change({.kind = Kind::add_product,
                  .factor = static_cast<float>(factor),
                  .a = of_device(a).values_,
                  .b = of_device(b).values_},
                 values_);
}

void DeviceNumbers::add_ratio(const Numbers& a, const Numbers& b, double factor, double root, double epsilon) {
  device_.change({.kind = Kind::add_ratio,
                  .factor = static_cast<float>(factor),
                  .a = of_device(a).values_,
                  .b = of_device(b).values_,
                  .root = static_cast<float>(root),
                  .epsilon = static_cast<float>(epsilon)},
                 values_);
}

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

constinit const Optimizer kSgd{
    .name = "sgd",
    .summary = "stochastic gradient descent: x = x - rate g",
    .citation = "Robbins and Monro, A Stochastic Approximation Method, Ann. Math. Stat. 22(3), 1951",
    .apply = [](std::span<const double>, const OptimizerStep& step, Numbers& parameters, const Numbers& gradients,
                std::span<Numbers* const>) { parameters.add(gradients, -(step.rate / step.divisor)); }};

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
