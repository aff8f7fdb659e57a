#pragma once

/// Models of one's own: files of TorchScript, and what they are trained on. No LibTorch type appears here.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/error.hpp"

namespace hbench {

/// One sample of what a model takes.
struct SampleShape {
  std::vector<std::int64_t> sizes;  ///< without the batch
  /// Samples are whole numbers from 0 to below this one, such as the tokens of a text; 0: they are floats with mean 0
  /// and variance 1.
  std::int64_t vocabulary = 0;

  /// `3x224x224`, `128:vocab=30522`: what `parse_sample_shape` reads.
  std::string text() const;
};
/// \throws Error (usage).
SampleShape parse_sample_shape(std::string_view text);

/// A TorchScript file with what it needs for a step.
struct OwnModel {
  std::string file;  ///< its path
  /// Path of a second module, which computes the loss of (output, input); empty: cross entropy of the output, which is
  /// scores of classes, and random labels.
  std::string loss;
  SampleShape input;
  std::string digest = {};  ///< that was read; empty in ranks, which compare no models

  /// `model.pt:3x224x224`: what it is called, whatever folder it is in.
  std::string name() const;
  /// Digest of both files: models with the same name may differ. \throws Error (usage) when one cannot be read.
  std::string read_digest() const;
};

/// Whether a name on the command line means a model of one's own, by the endings that PyTorch's users give to its
/// files. Other formats are among them, so that they are refused as what they are.
bool is_model_file(std::string_view name);

/// The name of a file without its folder.
std::string model_file_name(std::string_view path);

/// For verbs that take a recorded step, and were given a model.
Error no_timeline(std::string_view model_file);

/// \throws Error (usage) that says what a file is, where its first bytes are not those of TorchScript, and how to make
/// one that is.
void require_script(const std::string& file);
/// The same for a file that begins like one, which LibTorch does not read: for this reason.
Error no_script(const std::string& file, std::string_view what_it_is);
/// Why a file of TorchScript cannot be trained.
Error cannot_train(const std::string& file, std::string_view why, std::string cure);

}  // namespace hbench
