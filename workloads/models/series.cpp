#include <ATen/ops/relu.h>

#include "workloads/models/model.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

constexpr int kChannels = 25, kHidden = 100;

/// Convolutions, each of which halves the series, then layers of all numbers: either kind may be absent.
class SeriesModel final : public Model {
 public:
  explicit SeriesModel(const ModelEntry& entry) {
    int channels = 1, length = entry.series;
    for (int i = 0; i < entry.stages[0]; ++i) {
      const int width = i == 0 ? 5 : 3;
      torch::nn::Conv2dOptions options(channels, kChannels, {1, width});
      convolutions_.push_back(
          register_module("conv" + std::to_string(i + 1), torch::nn::Conv2d(options.stride({1, 2}).padding({0, 1}))));
      channels = kChannels;
      length = (length + 2 - width) / 2 + 1;
    }
    int in = channels * length;
    for (int i = 0; i <= entry.stages[1]; ++i) {
      const int out = i == entry.stages[1] ? entry.classes : kHidden;
      layers_.push_back(register_module("fc" + std::to_string(i + 1), torch::nn::Linear(in, out)));
      in = out;
    }
  }

  at::Tensor forward(const at::Tensor& series) override {
    at::Tensor x = series;
    for (torch::nn::Conv2d& convolution : convolutions_) x = convolution->forward(x).relu_();
    x = x.flatten(1);
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i) x = layers_[i]->forward(x).relu_();
    return layers_.back()->forward(x);
  }

 private:
  std::vector<torch::nn::Conv2d> convolutions_;
  std::vector<torch::nn::Linear> layers_;
};

}  // namespace

std::shared_ptr<Model> build_series(const ModelEntry& entry) { return std::make_shared<SeriesModel>(entry); }

}  // namespace hbench
