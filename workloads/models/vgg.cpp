#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include <array>
#include <string>
#include <vector>

#include "workloads/models/model.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

constexpr std::array<int, 5> kWidths{64, 128, 256, 512, 512};

class Vgg final : public Model {
 public:
  /// `convolutions` of each stage; a pooling layer halves the image after each.
  Vgg(const std::array<int, 5>& convolutions, bool norm) {
    int channels = 3;
    for (std::size_t stage = 0; stage < kWidths.size(); ++stage) {
      for (int i = 0; i < convolutions[stage]; ++i) {
        const std::string name = "conv" + std::to_string(stage + 1) + "_" + std::to_string(i + 1);
        const ConvShape shape{.out = kWidths[stage], .bias = true, .norm = norm};
        stages_[stage].push_back(register_module(name, std::make_shared<Conv>(channels, shape)));
        channels = kWidths[stage];
      }
    }
    fc6_ = register_module("fc6", torch::nn::Linear(512 * 7 * 7, 4096));
    fc7_ = register_module("fc7", torch::nn::Linear(4096, 4096));
    fc8_ = register_module("fc8", torch::nn::Linear(4096, 1000));
  }

  at::Tensor forward(const at::Tensor& images) override {
    at::Tensor x = images;
    for (const auto& stage : stages_) {
      for (const auto& conv : stage) x = conv->forward(x).relu_();
      x = at::max_pool2d(x, 2, 2);
    }
    x = at::adaptive_avg_pool2d(x, {7, 7}).flatten(1);
    x = at::dropout(fc6_->forward(x).relu_(), 0.5, is_training());
    x = at::dropout(fc7_->forward(x).relu_(), 0.5, is_training());
    return fc8_->forward(x);
  }

 private:
  std::array<std::vector<std::shared_ptr<Conv>>, 5> stages_;
  torch::nn::Linear fc6_{nullptr}, fc7_{nullptr}, fc8_{nullptr};
};

}  // namespace

std::shared_ptr<Model> build_vgg(const ModelEntry& entry) {
  return std::make_shared<Vgg>(entry.stages, entry.batch_norm);
}

}  // namespace hbench
