#pragma once

/// The family of models that can be trained. What is known of one stands here, without LibTorch; one architecture is
/// one file that builds its models of LibTorch's modules (`model.hpp`).

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace hbench {

/// Who builds a model.
enum class Architecture : std::uint8_t { resnet, vgg, inception, mobilenet, lenet, series };

/// One entry of the family. What it declares is tested against what is built of it.
struct ModelEntry {
  std::string_view name;
  std::string_view title;
  std::string_view citation;
  /// Trainable parameters, as published.
  std::int64_t parameters = 0;
  /// Square images of this many pixels and more are accepted.
  int smallest_image = 32;
  int channels = 3;
  int classes = 1000;
  int series = 0;  ///< numbers of a sample that is a series and no image
  Architecture architecture{};
  /// Where an architecture has several depths: residual blocks (ResNet), convolutions (VGG) between two halvings of the
  /// image.
  std::array<int, 5> stages{};
  bool bottleneck = false;      ///< ResNet: blocks of three convolutions, the outer two of 1 x 1
  bool batch_norm = false;      ///< VGG: after each convolution
  bool auxiliary_head = false;  ///< Inception: a second classifier, whose loss counts too
};

/// The table, in the order in which `hbench list models` prints it; the same with and without LibTorch.
std::span<const ModelEntry* const> models();

}  // namespace hbench
