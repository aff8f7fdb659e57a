#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include "workloads/models/model.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

constexpr ConvShape valid_5x5(int out) {
  return {.out = out, .height = 5, .width = 5, .padding = Padding::none, .bias = true, .norm = false};
}

/// Small enough for tests, and free of dropout and batch normalisation: one worker with a batch of two
/// halves computes what two workers with one half each do.
class LeNet final : public Model {
 public:
  LeNet()
      : conv1_(register_module("conv1", std::make_shared<Conv>(1, valid_5x5(6)))),
        conv2_(register_module("conv2", std::make_shared<Conv>(6, valid_5x5(16)))),
        fc1_(register_module("fc1", torch::nn::Linear(16 * 5 * 5, 120))),
        fc2_(register_module("fc2", torch::nn::Linear(120, 84))),
        fc3_(register_module("fc3", torch::nn::Linear(84, 10))) {}

  at::Tensor forward(const at::Tensor& images) override {
    at::Tensor x = at::max_pool2d(conv1_->forward(images).relu_(), 2, 2);
    x = at::max_pool2d(conv2_->forward(x).relu_(), 2, 2);
    x = at::adaptive_avg_pool2d(x, {5, 5}).flatten(1);
    return fc3_->forward(fc2_->forward(fc1_->forward(x).relu_()).relu_());
  }

 private:
  std::shared_ptr<Conv> conv1_, conv2_;
  torch::nn::Linear fc1_, fc2_, fc3_;
};

}  // namespace

std::shared_ptr<Model> build_lenet(const ModelEntry&) { return std::make_shared<LeNet>(); }

}  // namespace hbench
