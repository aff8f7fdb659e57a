// Our optimizers beside LibTorch's own.

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "tests/workloads/torch_optimizers.hpp"

namespace hbench::torch_optimizers_test {
namespace {

/// Two tensors, and steps whose gradients differ by many orders of magnitude; some are 0.
OptimizerTrial random_trial(double rate) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  const auto drawn = [&](double scale) {
    std::vector<std::vector<float>> tensors{std::vector<float>(37), std::vector<float>(12)};
    for (std::vector<float>& tensor : tensors)
      for (float& value : tensor)
        value = random() % 10 == 0 ? 0 : static_cast<float>(scale * std::pow(10.0, normal(random)) * normal(random));
    return tensors;
  };
  OptimizerTrial trial{.parameters = drawn(1), .gradients = {}, .rate = rate};
  for (int step = 0; step < 25; ++step) trial.gradients.push_back(drawn(0.1));
  return trial;
}

/// Both by the same formula, where few roundings differ.
void expect_alike(const std::vector<std::vector<float>>& steps, const std::vector<std::vector<float>>& expected) {
  ASSERT_EQ(steps.size(), expected.size());
  for (std::size_t step = 0; step < steps.size(); ++step)
    for (std::size_t i = 0; i < expected[step].size(); ++i)
      ASSERT_NEAR(steps[step][i], expected[step][i], 2e-6 * std::max(1.0F, std::abs(expected[step][i])))
          << "step " << step << ", parameter " << i;
}

std::vector<std::vector<float>> steps_on_host(const OptimizerChoice& choice, const OptimizerTrial& trial) {
  std::vector<float> parameters;
  for (const std::vector<float>& tensor : trial.parameters)
    parameters.insert(parameters.end(), tensor.begin(), tensor.end());
  std::vector<std::vector<float>> memory(static_cast<std::size_t>(choice.state()),
                                         std::vector<float>(parameters.size()));
  std::vector<DeviceNumbers> kept(memory.begin(), memory.end());
  std::vector<Numbers*> state;
  for (DeviceNumbers& each : kept) state.push_back(&each);
  DeviceNumbers numbers(parameters);
  std::vector<std::vector<float>> steps;
  for (const auto& tensors : trial.gradients) {
    std::vector<float> gradients;
    for (const std::vector<float>& tensor : tensors) gradients.insert(gradients.end(), tensor.begin(), tensor.end());
    choice.apply({.rate = trial.rate, .number = static_cast<std::int64_t>(steps.size()) + 1}, numbers,
                 DeviceNumbers(gradients), state);
    steps.push_back(parameters);
  }
  return steps;
}

TEST(OptimizersOfLibTorch, AreThoseOfHbench) {
  for (const char* text : {"sgd", "momentum", "momentum:0.5", "nesterov", "nesterov:0.5", "adam", "adam:0.8:0.9:1e-4",
                           "adamw", "adamw:0.8:0.9:1e-6:0.3"})
    for (const double rate : {0.1, 1e-3}) {
      SCOPED_TRACE(text);
      const OptimizerChoice choice = parse_optimizer(text);
      const OptimizerTrial trial = random_trial(rate);
      const std::vector<std::vector<float>> expected = steps_of_torch(choice, trial);
      expect_alike(steps_on_host(choice, trial), expected);
      expect_alike(steps_on_tensors(choice, trial), expected);
    }
}

TEST(OptimizersOfLibTorch, HaveTheSameBitsWithoutMomentum) {
  const OptimizerTrial trial = random_trial(0.1);
  EXPECT_EQ(steps_on_tensors(parse_optimizer("sgd"), trial), steps_of_torch(parse_optimizer("sgd"), trial));
}

}  // namespace
}  // namespace hbench::torch_optimizers_test
