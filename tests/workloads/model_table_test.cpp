// The table of models without LibTorch: parameters in closed form, from depths and widths.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "workloads/engine/samples.hpp"
#include "workloads/models/models.hpp"

namespace hbench::model_table_test {
namespace {

/// A convolution without bias, with the scale and shift behind it.
std::int64_t normed_convolution(std::int64_t in, std::int64_t out, std::int64_t side) {
  return in * out * side * side + 2 * out;
}

std::int64_t resnet_parameters(const ModelEntry& model) {
  std::int64_t sum = normed_convolution(3, 64, 7), channels = 64, width = 64;
  for (const int blocks : model.stages) {
    const std::int64_t out = model.bottleneck ? 4 * width : width;
    for (int block = 0; block < blocks; ++block) {
      if (model.bottleneck)
        sum += normed_convolution(channels, width, 1) + normed_convolution(width, width, 3) +
               normed_convolution(width, out, 1);
      else
        sum += normed_convolution(channels, width, 3) + normed_convolution(width, width, 3);
      if (channels != out) sum += normed_convolution(channels, out, 1);
      channels = out;
    }
    width *= 2;
  }
  return sum + (channels + 1) * model.classes;
}

std::int64_t vgg_parameters(const ModelEntry& model) {
  std::int64_t sum = 0, channels = 3, width = 64;
  for (const int convolutions : model.stages) {
    for (int i = 0; i < convolutions; ++i) {
      sum += channels * width * 9 + width * (model.batch_norm ? 3 : 1);
      channels = width;
    }
    width = std::min<std::int64_t>(2 * width, 512);
  }
  return sum + (512 * 49 + 1) * 4096 + (4096 + 1) * 4096 + (4096 + 1) * std::int64_t{model.classes};
}

/// Table 2 of the paper: how much a block widens, the channels it leaves, and the number of such blocks.
std::int64_t mobilenet_parameters(const ModelEntry& model) {
  constexpr std::int64_t kTable[][3]{{1, 16, 1}, {6, 24, 2},  {6, 32, 3}, {6, 64, 4},
                                     {6, 96, 3}, {6, 160, 3}, {6, 320, 1}};
  std::int64_t sum = normed_convolution(3, 32, 3), channels = 32;
  for (const auto& [factor, out, blocks] : kTable) {
    for (int block = 0; block < blocks; ++block) {
      const std::int64_t wide = factor * channels;
      if (factor > 1) sum += normed_convolution(channels, wide, 1);
      sum += normed_convolution(1, wide, 3) + normed_convolution(wide, out, 1);
      channels = out;
    }
  }
  return sum + normed_convolution(channels, 1280, 1) + (1280 + 1) * std::int64_t{model.classes};
}

TEST(ModelTable, HasTheParametersOfItsDepthsAndWidths) {
  int checked = 0;
  for (const ModelEntry* model : models()) {
    if (model->architecture == Architecture::resnet) {
      EXPECT_EQ(resnet_parameters(*model), model->parameters) << model->name;
      ++checked;
    }
    if (model->architecture == Architecture::vgg) {
      EXPECT_EQ(vgg_parameters(*model), model->parameters) << model->name;
      ++checked;
    }
    if (model->architecture == Architecture::mobilenet) {
      EXPECT_EQ(mobilenet_parameters(*model), model->parameters) << model->name;
      ++checked;
    }
  }
  EXPECT_EQ(checked, 14);
}

// Training data must be the same in later versions, so that losses can be compared.
TEST(Samples, StayWhatTheyAre) {
  std::array<float, 3> pixels{};
  fill_image(7, 3, pixels);
  EXPECT_FLOAT_EQ(pixels[0], 0.37855718F);
  EXPECT_FLOAT_EQ(pixels[2], -0.014149837F);
  EXPECT_EQ(label_of(7, 3, 1000), 943);
  std::array<std::int64_t, 200> tokens{};
  fill_tokens(7, 3, tokens, 50);
  EXPECT_EQ(*std::ranges::min_element(tokens), 0);
  EXPECT_EQ(*std::ranges::max_element(tokens), 49);
}

}  // namespace
}  // namespace hbench::model_table_test
