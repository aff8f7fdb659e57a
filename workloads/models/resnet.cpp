#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include <array>
#include <string>
#include <vector>

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
  /// `stages`: blocks of each, the last none.
  ResNet(BlockKind kind, const std::array<int, 5>& stages)
      : stem_(register_module("stem",
                              std::make_shared<Conv>(3, ConvShape{.out = 64, .height = 7, .width = 7, .stride = 2}))) {
    int channels = 64;
    for (std::size_t stage = 0; stage < stages.size() && stages[stage] > 0; ++stage) {
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

}  // namespace

std::shared_ptr<Model> build_resnet(const ModelEntry& entry) {
  return std::make_shared<ResNet>(entry.bottleneck ? BlockKind::bottleneck : BlockKind::basic, entry.stages);
}

}  // namespace hbench
