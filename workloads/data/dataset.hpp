#pragma once

/// Labelled samples that a model is trained on and judged by, and in which order workers take them. Needs no LibTorch.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/library.hpp"
#include "collectives/schedule/schedule.hpp"
#include "workloads/models/own_model.hpp"

namespace hbench {

/// Samples one after the other: as numbers, or as bytes where they are pixels.
struct LabelledSamples {
  std::vector<float> numbers;
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> labels;

  std::int64_t count() const { return std::ssize(labels); }
};

struct Dataset {
  SampleShape shape;  ///< channels x height x width; of a series 1 x 1 x length
  int classes = 0;
  LabelledSamples train, test;
  /// What bytes are normalised by: those of the training samples.
  float mean = 0, deviation = 1;

  /// Writes sample `index` of one of the two as a model takes it: with mean 0 and variance 1. \pre `into` has as many
  /// numbers as `shape`
  void fill(const LabelledSamples& of, std::int64_t index, std::span<float> into) const;
};

/// Where data is from.
struct DataSource {
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
  std::string_view model;   ///< that is usual for it
  Availability (*state)();  ///< on this machine
  Dataset (*load)();
};
std::span<const DataSource* const> data_sources();

/// A source by its name, or a folder with the files of MNIST (IDX, packed by gzip or not), of CIFAR-10 (binary), or
/// with pictures (JPEG, PNG) in a folder for each class: train/CLASS and val/CLASS. \param image_size to which pictures
/// are scaled, and cut to the square in their middle \throws Error (usage) for what is neither, and for files that are
/// damaged; (environment) for a source that is not installed.
Dataset load_dataset(const std::string& name_or_folder, int image_size);

/// Whether it is a folder of pictures, whose size a person chooses.
bool has_pictures(const std::string& name_or_folder);

/// Returns the model that is trained on it where nobody names one.
std::string_view usual_model(const std::string& name_or_folder);

/// That of `--data FOLDER`; \throws Error (usage) that names the file.
Dataset load_idx(const std::string& folder);
Dataset load_cifar(const std::string& folder);
Dataset load_pictures(const std::string& folder, int image_size);
/// Finishes a data set whose samples are there as bytes. \throws Error (usage) for a label beyond the classes.
Dataset normalised(Dataset data, const std::string& folder);
/// Series of 40 numbers that look like digits: 4,000 to train on and 1,000 others, made by the rule of Greydanus and
/// Kobak, Scaling down deep learning with MNIST-1D, ICML 2024 (arXiv:2011.14439). The draws are our own: other series
/// than theirs, of the same kind.
Dataset make_mnist1d();

/// Which samples a worker takes: each epoch in an order of its own, dealt out in turn, so that no two workers have the
/// same one. Where workers do not share out all, the first of an epoch are dealt out again, as PyTorch's
/// DistributedSampler does; what fills no batch is left out.
class EpochOrder {
 public:
  /// \throws Error (usage) where a worker has not one batch.
  EpochOrder(std::int64_t samples, int workers, Rank worker, int batch, std::uint64_t seed);

  /// Batches of a worker and an epoch.
  int batches() const { return static_cast<int>(own_ / batch_); }
  /// The samples of a batch, by its number over all epochs. Valid until the next call.
  std::span<const std::int64_t> batch(std::int64_t number);

 private:
  std::int64_t samples_, own_, batch_, workers_, worker_;
  std::uint64_t seed_;
  std::int64_t epoch_ = -1;
  std::vector<std::int64_t> order_;  ///< this worker's samples of an epoch
};

}  // namespace hbench
