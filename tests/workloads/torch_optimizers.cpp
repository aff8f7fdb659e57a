#include "tests/workloads/torch_optimizers.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include "workloads/engine/tensor_numbers.hpp"

namespace hbench {
namespace {

std::vector<at::Tensor> tensors_of(const std::vector<std::vector<float>>& values) {
  std::vector<at::Tensor> tensors;
  for (const std::vector<float>& each : values) tensors.push_back(at::tensor(each));
  return tensors;
}

std::vector<float> values_of(const std::vector<at::Tensor>& tensors) {
  const at::Tensor all = at::cat(tensors).detach().contiguous();
  return {all.data_ptr<float>(), all.data_ptr<float>() + all.numel()};
}

std::unique_ptr<torch::optim::Optimizer> made(const OptimizerChoice& choice, const std::vector<at::Tensor>& tensors,
                                              double rate) {
  const std::string_view name = choice.optimizer->name;
  const std::vector<double>& values = choice.values;
  if (name == "adam")
    return std::make_unique<torch::optim::Adam>(
        tensors, torch::optim::AdamOptions(rate).betas({values[0], values[1]}).eps(values[2]));
  if (name == "adamw")
    return std::make_unique<torch::optim::AdamW>(
        tensors, torch::optim::AdamWOptions(rate).betas({values[0], values[1]}).eps(values[2]).weight_decay(values[3]));
  torch::optim::SGDOptions options(rate);
  if (name != "sgd") options.momentum(values[0]).nesterov(name == "nesterov");
  return std::make_unique<torch::optim::SGD>(tensors, options);
}

}  // namespace

std::vector<std::vector<float>> steps_of_torch(const OptimizerChoice& choice, const OptimizerTrial& trial) {
  std::vector<at::Tensor> tensors = tensors_of(trial.parameters);
  for (at::Tensor& tensor : tensors) tensor.requires_grad_();
  const auto optimizer = made(choice, tensors, trial.rate);
  std::vector<std::vector<float>> steps;
  for (const auto& gradients : trial.gradients) {
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].mutable_grad() = at::tensor(gradients[i]);
    optimizer->step();
    steps.push_back(values_of(tensors));
  }
  return steps;
}

std::vector<std::vector<float>> steps_on_tensors(const OptimizerChoice& choice, const OptimizerTrial& trial) {
  const at::NoGradGuard guard;
  const std::vector<at::Tensor> tensors = tensors_of(trial.parameters);
  TensorNumbers parameters(tensors);
  std::vector<TensorNumbers> kept;
  for (int i = 0; i < choice.state(); ++i) kept.push_back(parameters.zeros());
  std::vector<Numbers*> state;
  for (TensorNumbers& each : kept) state.push_back(&each);
  std::vector<std::vector<float>> steps;
  for (const auto& gradients : trial.gradients) {
    choice.apply({.rate = trial.rate, .number = static_cast<std::int64_t>(steps.size()) + 1}, parameters,
                 TensorNumbers(tensors_of(gradients)), state);
    steps.push_back(values_of(tensors));
  }
  return steps;
}

}  // namespace hbench
