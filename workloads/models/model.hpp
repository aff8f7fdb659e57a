#pragma once

/// What the training engine asks of a model, and the layers of which all our image classifiers are made. Includes
/// LibTorch headers.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "workloads/models/models.hpp"
#include "workloads/models/own_model.hpp"

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

/// What is trained; parameters in forward order.
class Model : public torch::nn::Module {
 public:
  /// Logits, `samples x classes`, of `images`: `samples x channels x height x width`.
  virtual at::Tensor forward(const at::Tensor& images) = 0;
  /// What the backward pass begins with: cross entropy, unless the model says otherwise.
  virtual at::Tensor loss(const at::Tensor& images, const at::Tensor& labels);
  /// What is trained, with names: the parameters.
  virtual std::vector<std::pair<std::string, at::Tensor>> trained();
};

/// One for each `Architecture`, in the file of its name. Parameters are drawn from LibTorch's default generator,
/// gradients off until asked for.
std::shared_ptr<Model> build_resnet(const ModelEntry& entry);
std::shared_ptr<Model> build_vgg(const ModelEntry& entry);
std::shared_ptr<Model> build_inception(const ModelEntry& entry);
std::shared_ptr<Model> build_mobilenet(const ModelEntry& entry);
std::shared_ptr<Model> build_lenet(const ModelEntry& entry);
std::shared_ptr<Model> build_series(const ModelEntry& entry);
/// That of the entry's architecture.
std::shared_ptr<Model> build_model(const ModelEntry& entry);

/// A TorchScript file, ready for training on a device. Its parameters are those of the file; labels count modulo its
/// classes. \throws Error (usage) when it cannot be trained: here, and in a step, for input that does not suit it.
std::shared_ptr<Model> load_model(const OwnModel& model, at::Device place);

}  // namespace hbench
