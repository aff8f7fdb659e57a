#include "workloads/models/model.hpp"

#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/cross_entropy_loss.h>

#include <stdexcept>

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

at::Tensor Model::loss(const at::Tensor& images, const at::Tensor& labels) {
  return at::cross_entropy_loss(forward(images), labels);
}

std::vector<std::pair<std::string, at::Tensor>> Model::trained() {
  std::vector<std::pair<std::string, at::Tensor>> all;
  for (const auto& item : named_parameters()) all.emplace_back(item.key(), item.value());
  return all;
}

std::shared_ptr<Model> build_model(const ModelEntry& entry) {
  switch (entry.architecture) {
    case Architecture::resnet:
      return build_resnet(entry);
    case Architecture::vgg:
      return build_vgg(entry);
    case Architecture::inception:
      return build_inception(entry);
    case Architecture::mobilenet:
      return build_mobilenet(entry);
    case Architecture::lenet:
      return build_lenet(entry);
    case Architecture::series:
      return build_series(entry);
  }
  throw std::logic_error("an architecture without a builder");
}

}  // namespace hbench
