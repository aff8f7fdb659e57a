#include <ATen/ops/clamp.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/hardtanh.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "workloads/models/model.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

/// The paper's ReLU6, in place. On CPU cores LibTorch 1.13 has no derivative of that in bfloat16.
at::Tensor cut_at_6(at::Tensor x) {
  if (x.is_cpu() && x.scalar_type() == at::kBFloat16) return at::clamp(x, 0, 6);
  return at::hardtanh_(x, 0, 6);
}

/// Widens the image, convolves each channel alone, and projects it to few channels, which are not cut off.
class InvertedResidual final : public torch::nn::Module {
 public:
  InvertedResidual(int in, int out, int stride, int factor) : shortcut_(stride == 1 && in == out) {
    const int wide = in * factor;
    if (factor > 1) {
      expand_ = register_module("expand", std::make_shared<Conv>(in, ConvShape{.out = wide, .height = 1, .width = 1}));
    }
    const ConvShape depthwise{.out = wide, .stride = stride, .groups = wide};
    depthwise_ = register_module("depthwise", std::make_shared<Conv>(wide, depthwise));
    project_ = register_module("project", std::make_shared<Conv>(wide, ConvShape{.out = out, .height = 1, .width = 1}));
  }

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor wide = expand_ ? cut_at_6(expand_->forward(x)) : x;
    const at::Tensor y = project_->forward(cut_at_6(depthwise_->forward(wide)));
    return shortcut_ ? x + y : y;
  }

 private:
  bool shortcut_;
  std::shared_ptr<Conv> expand_, depthwise_, project_;
};

/// Blocks that follow each other: the first has the stride, and all widen by the same factor.
struct StageShape {
  int factor = 6;
  int out = 0;  ///< channels
  int blocks = 1;
  int stride = 1;
};

/// Table 2 of the paper.
constexpr std::array<StageShape, 7> kStages{{{.factor = 1, .out = 16},
                                             {.out = 24, .blocks = 2, .stride = 2},
                                             {.out = 32, .blocks = 3, .stride = 2},
                                             {.out = 64, .blocks = 4, .stride = 2},
                                             {.out = 96, .blocks = 3},
                                             {.out = 160, .blocks = 3, .stride = 2},
                                             {.out = 320}}};
constexpr int kStem = 32;
constexpr int kFeatures = 1280;
constexpr double kDropout = 0.2;

class MobileNet final : public Model {
 public:
  MobileNet() : stem_(register_module("stem", std::make_shared<Conv>(3, ConvShape{.out = kStem, .stride = 2}))) {
    int channels = kStem;
    for (const StageShape& stage : kStages) {
      for (int i = 0; i < stage.blocks; ++i) {
        const int stride = i == 0 ? stage.stride : 1;
        auto block = std::make_shared<InvertedResidual>(channels, stage.out, stride, stage.factor);
        blocks_.push_back(register_module("block" + std::to_string(blocks_.size()), std::move(block)));
        channels = stage.out;
      }
    }
    const ConvShape features{.out = kFeatures, .height = 1, .width = 1};
    head_ = register_module("head", std::make_shared<Conv>(channels, features));
    classifier_ = register_module("classifier", torch::nn::Linear(kFeatures, 1000));
  }

  at::Tensor forward(const at::Tensor& images) override {
    at::Tensor x = cut_at_6(stem_->forward(images));
    for (const auto& block : blocks_) x = block->forward(x);
    x = average_channels(cut_at_6(head_->forward(x)));
    return classifier_->forward(at::dropout(x, kDropout, is_training()));
  }

 private:
  std::shared_ptr<Conv> stem_;
  std::vector<std::shared_ptr<InvertedResidual>> blocks_;
  std::shared_ptr<Conv> head_;
  torch::nn::Linear classifier_{nullptr};
};

}  // namespace

std::shared_ptr<Model> build_mobilenet(const ModelEntry&) { return std::make_shared<MobileNet>(); }

}  // namespace hbench
