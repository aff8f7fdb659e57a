#include "workloads/optimizers/optimizer.hpp"

#include <cmath>

#include "collectives/base/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::optimizers_test {
namespace {

/// Parameters of an optimizer with its state, on the host.
class Trained {
 public:
  Trained(const char* optimizer, std::vector<float> from)
      : optimizer_(parse_optimizer(optimizer)),
        parameters_(std::move(from)),
        state_(static_cast<std::size_t>(optimizer_.state()), std::vector<float>(parameters_.size())) {}

  void step(std::vector<float> gradients, double rate, double divisor = 1) {
    DeviceNumbers parameters(parameters_);
    std::vector<DeviceNumbers> kept(state_.begin(), state_.end());
    std::vector<Numbers*> state;
    for (DeviceNumbers& each : kept) state.push_back(&each);
    optimizer_.apply({.rate = rate, .divisor = divisor, .number = ++steps_}, parameters, DeviceNumbers(gradients),
                     state);
  }
  /// A step whose gradients come as a momentum with them in it, `divisor` times as large.
  void step_by_momenta(std::vector<float> gradients, double rate, double divisor, std::int64_t frozen) {
    DeviceNumbers parameters(parameters_), gained(gradients);
    std::vector<DeviceNumbers> kept(state_.begin(), state_.end());
    std::vector<Numbers*> state;
    for (DeviceNumbers& each : kept) state.push_back(&each);
    const MomentumStep& momentum = *optimizer_.optimizer->momentum;
    momentum.gain(optimizer_.values, {.divisor = 1}, *state[0], gained);
    gained.multiply(divisor);  // as many ranks with the same
    momentum.apply(optimizer_.values, {.rate = rate, .divisor = divisor, .number = ++steps_, .frozen = frozen},
                   parameters, gained, state);
  }
  const std::vector<float>& parameters() const { return parameters_; }

 private:
  OptimizerChoice optimizer_;
  std::vector<float> parameters_;
  std::vector<std::vector<float>> state_;
  int steps_ = 0;
};

/// The parameter after steps of one gradient from 1.
double after(const char* optimizer, int steps, float gradient, double rate) {
  Trained one(optimizer, {1});
  for (int step = 0; step < steps; ++step) one.step({gradient}, rate);
  return one.parameters()[0];
}

class EveryOptimizer : public ::testing::TestWithParam<const Optimizer*> {};

TEST_P(EveryOptimizer, SaysWhatItDoesAndWhereItIsFrom) {
  EXPECT_FALSE(GetParam()->summary.empty());
  EXPECT_FALSE(GetParam()->citation.empty());
  EXPECT_GT(GetParam()->rate, 0);
  for (const NumberField& field : GetParam()->fields) {
    EXPECT_FALSE(field.name.empty());
    EXPECT_GE(field.standard, field.smallest);
    EXPECT_LE(field.standard, field.largest);
  }
}

TEST_P(EveryOptimizer, IsReadBackFromItsText) {
  OptimizerChoice choice = parse_optimizer(GetParam()->name);
  EXPECT_EQ(choice.text(), GetParam()->name) << "standard values are not said";
  for (double& value : choice.values) value /= 2;
  const OptimizerChoice again = parse_optimizer(choice.text());
  EXPECT_EQ(again.optimizer, choice.optimizer);
  EXPECT_EQ(again.values, choice.values);
}

TEST_P(EveryOptimizer, DescendsAQuadratic) {
  Trained bowl(GetParam()->name.data(), {3, -2});
  for (int step = 0; step < 2000; ++step) bowl.step({bowl.parameters()[0], 4 * bowl.parameters()[1]}, 0.01);
  EXPECT_NEAR(bowl.parameters()[0], 0, 0.02);
  EXPECT_NEAR(bowl.parameters()[1], 0, 0.02);
}

TEST_P(EveryOptimizer, DividesASumOfGradientsFirst) {
  Trained mean(GetParam()->name.data(), {3, -2}), sum(GetParam()->name.data(), {3, -2});
  for (const float gradient : {0.5F, -0.25F, 2.0F}) {
    mean.step({gradient, 1}, 0.1);
    sum.step({4 * gradient, 4}, 0.1, 4);
  }
  EXPECT_EQ(mean.parameters(), sum.parameters()) << "4 is a power of two: no rounding differs";
}

TEST_P(EveryOptimizer, IsOfEachParameterForItself) {
  Trained both(GetParam()->name.data(), {3, -2}), first(GetParam()->name.data(), {3}),
      second(GetParam()->name.data(), {-2});
  for (const float gradient : {0.5F, -0.3F, 0.0F}) {
    both.step({gradient, 2 * gradient}, 0.1);
    first.step({gradient}, 0.1);
    second.step({2 * gradient}, 0.1);
  }
  EXPECT_EQ(both.parameters(), (std::vector{first.parameters()[0], second.parameters()[0]}));
}

INSTANTIATE_TEST_SUITE_P(Optimizers, EveryOptimizer, ::testing::ValuesIn(optimizers().begin(), optimizers().end()),
                         [](const auto& test) { return std::string(test.param->name); });

// On x^2 / 2 every step leaves 1 - rate of the parameter.
TEST(Optimizers, OfPlainDescentFollowTheClosedFormOfAQuadratic) {
  Trained bowl("sgd", {2});
  for (int step = 0; step < 20; ++step) bowl.step({bowl.parameters()[0]}, 0.1);
  EXPECT_NEAR(bowl.parameters()[0], 2 * std::pow(0.9, 20), 1e-6);
}

// Of one gradient g the momentum after k steps is g (1 - b^k) / (1 - b); steps add it up.
TEST(Optimizers, WithMomentumAddUpAGeometricSeries) {
  const double b = 0.5, rate = 0.01, gradient = 2;
  const int steps = 7;
  const double sum = gradient / (1 - b) * (steps - b * (1 - std::pow(b, steps)) / (1 - b));
  EXPECT_NEAR(after("momentum:0.5", steps, gradient, rate), 1 - rate * sum, 1e-6);
  EXPECT_NEAR(after("nesterov:0.5", steps, gradient, rate), 1 - rate * (steps * gradient + b * sum), 1e-6);
  EXPECT_NEAR(after("momentum:0", steps, gradient, rate), after("sgd", steps, gradient, rate), 1e-7);
}

// Of one gradient both corrected means are its own: a step has the length of the rate, whatever the gradient.
TEST(Optimizers, OfAdamStepByTheRate) {
  for (const float gradient : {3.0F, 1e-3F}) {
    EXPECT_NEAR(after("adam", 10, gradient, 0.01), 1 - 0.1, 1e-5);
    EXPECT_NEAR(after("adam", 10, -gradient, 0.01), 1 + 0.1, 1e-5);
    EXPECT_NEAR(after("adamw:0.9:0.999:1e-8:0", 10, gradient, 0.01), 1 - 0.1, 1e-5);
  }
  double decayed = 1;
  for (int step = 0; step < 10; ++step) decayed = decayed * (1 - 0.01 * 0.5) - 0.01;
  EXPECT_NEAR(after("adamw:0.9:0.999:1e-8:0.5", 10, 3, 0.01), decayed, 1e-5);
}

// Kingma and Ba's formula, with the variance of step 3 from there on.
TEST(Optimizers, OfMomentaStepByAVarianceThatStays) {
  const double rate = 0.01, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-3;
  const std::vector<float> gradients{2, -1, 0.5, 3, -4, 0.25};
  const int frozen = 3;
  Trained one("adam:0.9:0.999:0.001", {1}), four("adam:0.9:0.999:0.001", {1});
  double x = 1, mean = 0, square = 0;
  for (int step = 1; step <= static_cast<int>(gradients.size()); ++step) {
    const float gradient = gradients[static_cast<std::size_t>(step - 1)];
    mean = beta1 * mean + (1 - beta1) * gradient;
    if (step <= frozen) square = beta2 * square + (1 - beta2) * gradient * gradient;
    const double variance = square / (1 - std::pow(beta2, std::min(step, frozen)));
    x -= rate * mean / (1 - std::pow(beta1, step)) / (std::sqrt(variance) + epsilon);
    for (const auto& [trained, ranks] : {std::pair(&one, 1.0), std::pair(&four, 4.0)}) {
      step <= frozen ? trained->step({gradient}, rate) : trained->step_by_momenta({gradient}, rate, ranks, frozen);
      EXPECT_NEAR(trained->parameters()[0], x, 1e-6) << "step " << step << " of " << ranks;
    }
  }
}

TEST(Optimizers, HaveAMomentumToExchangeWhereThatIsAdams) {
  for (const Optimizer* each : optimizers()) EXPECT_EQ(each->momentum != nullptr, each->name == "adam") << each->name;
}

TEST(Optimizers, RefuseTheirValuesWithWhatIsRight) {
  const auto refusal = [](const char* text) { return refusal_of([&] { parse_optimizer(text); }); };
  EXPECT_THAT(refusal("momentum:1"), HasSubstr("'1' is not the momentum of momentum, a number from 0 to 0.9999"));
  EXPECT_THAT(refusal("momentum:x"), HasSubstr("write momentum:0.9"));
  EXPECT_THAT(refusal("sgd:0.9"), HasSubstr("sgd takes no number after its name"));
  EXPECT_THAT(refusal("adamm"), HasSubstr("did you mean 'adam"));
}

}  // namespace
}  // namespace hbench::optimizers_test
