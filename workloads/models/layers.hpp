#pragma once

/// The layers of which all our image classifiers are made. Includes LibTorch headers.

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <memory>

namespace hbench {

enum class Padding { same, none };

/// A convolution and what belongs to it.
struct ConvShape {
  int out = 0;  ///< channels
  int height = 3;
  int width = 3;
  int stride = 1;
  int groups = 1;                   ///< of channels, each convolved alone; as many as channels: depthwise
  Padding padding = Padding::same;  ///< `same`: half the kernel
  bool bias = false;
  bool norm = true;
  double epsilon = 1e-5;  ///< of the normalisation
};

/// Convolution, then batch normalisation where the shape asks for it.
class Conv final : public torch::nn::Module {
 public:
  Conv(int in, const ConvShape& shape);
  at::Tensor forward(const at::Tensor& x);

 private:
  torch::nn::Conv2d conv_;
  torch::nn::BatchNorm2d norm_{nullptr};
};

/// Global average of each channel, flattened to `samples x channels`.
at::Tensor average_channels(const at::Tensor& x);

}  // namespace hbench
