#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include <string>
#include <vector>

#include "workloads/models/model.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

ConvShape conv(int out, int height, int width) {
  return {.out = out, .height = height, .width = width, .epsilon = 1e-3};
}
ConvShape conv(int out, int size) { return conv(out, size, size); }

ConvShape valid(int out, int size, int stride = 1) {
  ConvShape shape = conv(out, size);
  shape.stride = stride;
  shape.padding = Padding::none;
  return shape;
}

enum class Pool { none, average, maximum };

/// One of the parallel paths of a module: pooling, convolutions one after the other, then perhaps two or more
/// convolutions side by side.
struct BranchShape {
  Pool pool = Pool::none;
  std::vector<ConvShape> path = {};
  std::vector<ConvShape> fork = {};
};

class Branch final : public torch::nn::Module {
 public:
  Branch(int in, const BranchShape& shape) : pool_(shape.pool), out_(in) {
    for (const ConvShape& conv : shape.path) {
      path_.push_back(add(out_, conv));
      out_ = conv.out;
    }
    if (shape.fork.empty()) return;
    int sum = 0;
    for (const ConvShape& conv : shape.fork) {
      fork_.push_back(add(out_, conv));
      sum += conv.out;
    }
    out_ = sum;
  }

  int out() const { return out_; }

  at::Tensor forward(at::Tensor x) {
    if (pool_ == Pool::average) x = at::avg_pool2d(x, 3, 1, 1);
    if (pool_ == Pool::maximum) x = at::max_pool2d(x, 3, 2);
    for (const auto& conv : path_) x = conv->forward(x).relu_();
    if (fork_.empty()) return x;
    std::vector<at::Tensor> parts;
    for (const auto& conv : fork_) parts.push_back(conv->forward(x).relu_());
    return at::cat(parts, 1);
  }

 private:
  std::shared_ptr<Conv> add(int in, const ConvShape& shape) {
    return register_module("conv" + std::to_string(children().size()), std::make_shared<Conv>(in, shape));
  }

  Pool pool_;
  int out_;
  std::vector<std::shared_ptr<Conv>> path_, fork_;
};

/// Parallel branches whose channels are concatenated.
class Mixed final : public torch::nn::Module {
 public:
  Mixed(int in, const std::vector<BranchShape>& shapes) {
    for (const BranchShape& shape : shapes) {
      branches_.push_back(
          register_module("branch" + std::to_string(branches_.size()), std::make_shared<Branch>(in, shape)));
      out_ += branches_.back()->out();
    }
  }

  int out() const { return out_; }

  at::Tensor forward(const at::Tensor& x) {
    std::vector<at::Tensor> parts;
    for (const auto& branch : branches_) parts.push_back(branch->forward(x));
    return at::cat(parts, 1);
  }

 private:
  int out_ = 0;
  std::vector<std::shared_ptr<Branch>> branches_;
};

using Shapes = std::vector<BranchShape>;

/// Figure 5 of the paper, on the 35 x 35 grid.
Shapes grid_35(int pooled) {
  return {{.path = {conv(64, 1)}},
          {.path = {conv(48, 1), conv(64, 5)}},
          {.path = {conv(64, 1), conv(96, 3), conv(96, 3)}},
          {.pool = Pool::average, .path = {conv(pooled, 1)}}};
}

Shapes from_35_to_17() {
  return {{.path = {valid(384, 3, 2)}}, {.path = {conv(64, 1), conv(96, 3), valid(96, 3, 2)}}, {.pool = Pool::maximum}};
}

/// Figure 6: 7 x 7 convolutions as pairs of 1 x 7 and 7 x 1.
Shapes grid_17(int inner) {
  return {{.path = {conv(192, 1)}},
          {.path = {conv(inner, 1), conv(inner, 1, 7), conv(192, 7, 1)}},
          {.path = {conv(inner, 1), conv(inner, 7, 1), conv(inner, 1, 7), conv(inner, 7, 1), conv(192, 1, 7)}},
          {.pool = Pool::average, .path = {conv(192, 1)}}};
}

Shapes from_17_to_8() {
  return {{.path = {conv(192, 1), valid(320, 3, 2)}},
          {.path = {conv(192, 1), conv(192, 1, 7), conv(192, 7, 1), valid(192, 3, 2)}},
          {.pool = Pool::maximum}};
}

/// Figure 7: wide, for the last grid.
Shapes grid_8() {
  return {{.path = {conv(320, 1)}},
          {.path = {conv(384, 1)}, .fork = {conv(384, 1, 3), conv(384, 3, 1)}},
          {.path = {conv(448, 1), conv(384, 3)}, .fork = {conv(384, 1, 3), conv(384, 3, 1)}},
          {.pool = Pool::average, .path = {conv(192, 1)}}};
}

/// The classifier on the 17 x 17 grid that helps training.
class Auxiliary final : public torch::nn::Module {
 public:
  explicit Auxiliary(int in)
      : conv0_(register_module("conv0", std::make_shared<Conv>(in, conv(128, 1)))),
        conv1_(register_module("conv1", std::make_shared<Conv>(128, valid(768, 5)))),
        head_(register_module("head", torch::nn::Linear(768, 1000))) {}

  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = conv0_->forward(at::avg_pool2d(x, 5, 3)).relu_();
    return head_->forward(average_channels(conv1_->forward(y).relu_()));
  }

 private:
  std::shared_ptr<Conv> conv0_, conv1_;
  torch::nn::Linear head_;
};

constexpr double kAuxiliaryWeight = 0.4;

class Inception final : public Model {
 public:
  explicit Inception(bool auxiliary) {
    for (const ConvShape& shape : {valid(32, 3, 2), valid(32, 3), conv(64, 3), conv(80, 1), valid(192, 3)}) {
      stem_.push_back(register_module("stem" + std::to_string(stem_.size()), std::make_shared<Conv>(channels_, shape)));
      channels_ = shape.out;
    }
    for (const Shapes& shapes : {grid_35(32), grid_35(64), grid_35(64), from_35_to_17(), grid_17(128), grid_17(160),
                                 grid_17(160), grid_17(192)}) {
      add(lower_, shapes);
    }
    if (auxiliary) auxiliary_ = register_module("auxiliary", std::make_shared<Auxiliary>(channels_));
    for (const Shapes& shapes : {from_17_to_8(), grid_8(), grid_8()}) add(upper_, shapes);
    head_ = register_module("head", torch::nn::Linear(channels_, 1000));
  }

  at::Tensor forward(const at::Tensor& images) override { return classify(grid17(images)); }

  at::Tensor loss(const at::Tensor& images, const at::Tensor& labels) override {
    const at::Tensor x = grid17(images);
    const at::Tensor main = at::cross_entropy_loss(classify(x), labels);
    if (!auxiliary_ || !is_training()) return main;
    return main + kAuxiliaryWeight * at::cross_entropy_loss(auxiliary_->forward(x), labels);
  }

 private:
  void add(std::vector<std::shared_ptr<Mixed>>& to, const Shapes& shapes) {
    const std::string name = "mixed" + std::to_string(lower_.size() + upper_.size());
    to.push_back(register_module(name, std::make_shared<Mixed>(channels_, shapes)));
    channels_ = to.back()->out();
  }

  at::Tensor grid17(const at::Tensor& images) {
    at::Tensor x = images;
    for (std::size_t i = 0; i < stem_.size(); ++i) {
      x = stem_[i]->forward(x).relu_();
      if (i == 2 || i == 4) x = at::max_pool2d(x, 3, 2);
    }
    for (const auto& mixed : lower_) x = mixed->forward(x);
    return x;
  }

  at::Tensor classify(at::Tensor x) {
    for (const auto& mixed : upper_) x = mixed->forward(x);
    return head_->forward(at::dropout(average_channels(x), 0.5, is_training()));
  }

  int channels_ = 3;
  std::vector<std::shared_ptr<Conv>> stem_;
  std::vector<std::shared_ptr<Mixed>> lower_, upper_;
  std::shared_ptr<Auxiliary> auxiliary_;
  torch::nn::Linear head_{nullptr};
};

}  // namespace

std::shared_ptr<Model> build_inception(const ModelEntry& entry) {
  return std::make_shared<Inception>(entry.auxiliary_head);
}

}  // namespace hbench
