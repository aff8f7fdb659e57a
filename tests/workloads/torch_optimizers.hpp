#pragma once

// LibTorch's own optimizers, and ours on its tensors: an oracle without LibTorch's types.

#include <vector>

#include "workloads/optimizers/optimizer.hpp"

namespace hbench {

/// Parameters in tensors of the same number of elements each, and the gradients of every step.
struct OptimizerTrial {
  std::vector<std::vector<float>> parameters;
  std::vector<std::vector<std::vector<float>>> gradients;  ///< by step and tensor
  double rate = 0.01;
};

/// The parameters after each step of torch::optim::SGD, Adam or AdamW with the values of `choice`, all tensors in one.
std::vector<std::vector<float>> steps_of_torch(const OptimizerChoice& choice, const OptimizerTrial& trial);
/// The same of `choice` on tensors.
std::vector<std::vector<float>> steps_on_tensors(const OptimizerChoice& choice, const OptimizerTrial& trial);

}  // namespace hbench
