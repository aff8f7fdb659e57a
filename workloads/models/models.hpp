#pragma once

/// The family of models that can be trained. One architecture is one file that defines its entries; they are
/// listed in `models.cpp`. No LibTorch type is needed to read the table.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace hbench {

class Model;

/// One entry of the family. What it declares is tested against what `build` makes.
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
  /// Parameters are drawn from LibTorch's default generator, gradients off until asked for.
  std::shared_ptr<Model> (*build)() = nullptr;
};

/// The table, in the order in which `hbench list models` prints it.
std::span<const ModelEntry* const> models();

}  // namespace hbench
