#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include <array>
#include <string>
#include <vector>

#include "workloads/models/layers.hpp"
#include "workloads/models/model.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

enum class BlockKind { basic, bottleneck };

/// Convolutions with a shortcut around them.
class Block final : public torch::nn::Module {
 public:
  Block(int in, int out, const std::vector<ConvShape>& shapes, int stride) {
    int channels = in;
    for (const ConvShape& shape : shapes) {
      const std::string name = "conv" + std::to_string(path_.size() + 1);
      path_.push_back(register_module(name, std::make_shared<Conv>(channels, shape)));
      channels = shape.out;
    }
    if (in == out && stride == 1) return;
    const ConvShape projection{.out = out, .height = 1, .width = 1, .stride = stride};
    shortcut_ = register_module("shortcut", std::make_shared<Conv>(in, projection));
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = path_.front()->forward(x);
    for (std::size_t i = 1; i < path_.size(); ++i) y = path_[i]->forward(y.relu_());
    return y.add_(shortcut_ ? shortcut_->forward(x) : x).relu_();
  }

 private:
  std::vector<std::shared_ptr<Conv>> path_;
  std::shared_ptr<Conv> shortcut_;
};

/// The stride of a bottleneck is in its 3 x 3 convolution, as in torchvision ("v1.5"), not in its first.
std::vector<ConvShape> shapes_of(BlockKind kind, int width, int stride) {
  const ConvShape middle{.out = width, .stride = stride};
  if (kind == BlockKind::basic) return {middle, {.out = width}};
  return {{.out = width, .height = 1, .width = 1}, middle, {.out = 4 * width, .height = 1, .width = 1}};
}

class ResNet final : public Model {
 public:
  ResNet(BlockKind kind, const std::array<int, 4>& stages)
      : stem_(register_module("stem",
                              std::make_shared<Conv>(3, ConvShape{.out = 64, .height = 7, .width = 7, .stride = 2}))) {
    int channels = 64;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      const int width = 64 << stage;
      const int out = kind == BlockKind::basic ? width : 4 * width;
      for (int i = 0; i < stages[stage]; ++i) {
        const int stride = stage > 0 && i == 0 ? 2 : 1;
        const std::string name = "layer" + std::to_string(stage + 1) + "_" + std::to_string(i);
        blocks_.push_back(
            register_module(name, std::make_shared<Block>(channels, out, shapes_of(kind, width, stride), stride)));
        channels = out;
      }
    }
    head_ = register_module("head", torch::nn::Linear(channels, 1000));
  }

  at::Tensor forward(const at::Tensor& images) override {
    at::Tensor x = at::max_pool2d(stem_->forward(images).relu_(), 3, 2, 1);
    for (const auto& block : blocks_) x = block->forward(x);
    return head_->forward(average_channels(x));
  }

 private:
  std::shared_ptr<Conv> stem_;
  std::vector<std::shared_ptr<Block>> blocks_;
  torch::nn::Linear head_{nullptr};
};

template <BlockKind kind, int... blocks>
std::shared_ptr<Model> build() {
  return std::make_shared<ResNet>(kind, std::array<int, 4>{blocks...});
}

constexpr std::string_view kCitation =
    "He, Zhang, Ren and Sun, Deep Residual Learning for Image Recognition, CVPR 2016 (torchvision's v1.5 strides)";

}  // namespace

extern const ModelEntry kResNet18, kResNet34, kResNet50, kResNet101, kResNet152;
constinit const ModelEntry kResNet18{.name = "resnet18",
                                     .title = "ResNet-18",
                                     .citation = kCitation,
                                     .parameters = 11'689'512,
                                     .build = build<BlockKind::basic, 2, 2, 2, 2>};
constinit const ModelEntry kResNet34{.name = "resnet34",
                                     .title = "ResNet-34",
                                     .citation = kCitation,
                                     .parameters = 21'797'672,
                                     .build = build<BlockKind::basic, 3, 4, 6, 3>};
constinit const ModelEntry kResNet50{.name = "resnet50",
                                     .title = "ResNet-50",
                                     .citation = kCitation,
                                     .parameters = 25'557'032,
                                     .build = build<BlockKind::bottleneck, 3, 4, 6, 3>};
constinit const ModelEntry kResNet101{.name = "resnet101",
                                      .title = "ResNet-101",
                                      .citation = kCitation,
                                      .parameters = 44'549'160,
                                      .build = build<BlockKind::bottleneck, 3, 4, 23, 3>};
constinit const ModelEntry kResNet152{.name = "resnet152",
                                      .title = "ResNet-152",
                                      .citation = kCitation,
                                      .parameters = 60'192'808,
                                      .build = build<BlockKind::bottleneck, 3, 8, 36, 3>};

}  // namespace hbench
