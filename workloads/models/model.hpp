#pragma once

/// What the training engine asks of a model. Includes LibTorch headers.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

namespace hbench {

/// A classifier; parameters in forward order.
class Model : public torch::nn::Module {
 public:
  /// Logits, `samples x classes`, of `images`: `samples x channels x height x width`.
  virtual at::Tensor forward(const at::Tensor& images) = 0;
  /// What the backward pass begins with: cross entropy, unless the model says otherwise.
  virtual at::Tensor loss(const at::Tensor& images, const at::Tensor& labels);
};

}  // namespace hbench
