#include "workloads/models/layers.hpp"

#include <ATen/ops/adaptive_avg_pool2d.h>

namespace hbench {
namespace {

torch::nn::Conv2dOptions options(int in, const ConvShape& shape) {
  torch::nn::Conv2dOptions options(in, shape.out, {shape.height, shape.width});
  options.stride(shape.stride).groups(shape.groups).bias(shape.bias);
  if (shape.padding == Padding::same) options.padding({shape.height / 2, shape.width / 2});
  return options;
}

}  // namespace

Conv::Conv(int in, const ConvShape& shape) : conv_(register_module("conv", torch::nn::Conv2d(options(in, shape)))) {
  if (!shape.norm) return;
  norm_ = register_module("norm", torch::nn::BatchNorm2d(torch::nn::BatchNorm2dOptions(shape.out).eps(shape.epsilon)));
}

at::Tensor Conv::forward(const at::Tensor& x) {
  const at::Tensor y = conv_->forward(x);
  return norm_ ? norm_->forward(y) : y;
}

at::Tensor average_channels(const at::Tensor& x) { return at::adaptive_avg_pool2d(x, {1, 1}).flatten(1); }

}  // namespace hbench
