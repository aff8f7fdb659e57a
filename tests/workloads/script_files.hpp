#pragma once

// Files of TorchScript for tests, and what is taken for one. No LibTorch type appears here.

#include <filesystem>
#include <string>
#include <vector>

namespace hbench {

/// A parameter of a module: random values of deviation 0.1, or one value everywhere.
struct ScriptParameter {
  std::string name;
  std::vector<std::int64_t> sizes;
  double value = 0;  ///< 0: random
};

/// A module in TorchScript.
struct ScriptText {
  std::vector<ScriptParameter> parameters;
  std::string code;  ///< `def forward(self, x):` ...
  /// What may be wrong with it.
  enum class Flaw { none, half, frozen, no_gradients } flaw = Flaw::none;
};
/// Saves it as `.eval()` leaves it: training begins with what says otherwise.
void write_script(const std::filesystem::path& file, const ScriptText& text);

/// Saves weights without code, as torch.save does since PyTorch 1.6.
void write_weights(const std::filesystem::path& file);

/// A convolution and a dense layer of ten classes, on images of one channel and at least 5 x 5 pixels.
ScriptText small_classifier();

}  // namespace hbench
