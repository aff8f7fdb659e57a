#pragma once

/// What a replica is fed with: samples that are drawn, or dealt out of a data set. Includes LibTorch headers.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "workloads/data/dataset.hpp"
#include "workloads/models/models.hpp"

namespace hbench {

struct Batch {
  at::Tensor samples;
  at::Tensor labels;
};
/// Puts a batch where it is computed with, and in the order of a device's memory.
using PlaceBatch = std::function<Batch(const Batch&)>;

/// Batches of one worker, by their numbers from 0.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual Batch batch(int number) = 0;
};

/// Which of all batches are a worker's.
struct WorkersShare {
  unsigned seed = 1;
  int rank = 0;
  int workers = 1;
  int batch = 1;  ///< samples
};

/// A few batches that take turns, placed once. \param classes of the labels
std::unique_ptr<BatchSource> drawn_batches(const SampleShape& shape, int classes, const WorkersShare& share,
                                           const PlaceBatch& place);
/// The first of such samples, not placed.
Batch drawn_batch(const SampleShape& shape, int classes, unsigned seed, std::uint64_t first, int samples);

/// Each epoch's, in the shape `input` that a model takes; `data` outlives them. \throws Error (usage) as `EpochOrder`.
std::unique_ptr<BatchSource> dealt_batches(const Dataset& data, const SampleShape& input, const WorkersShare& share,
                                           PlaceBatch place);
/// Calls `use` with all samples to be judged by, some at a time, in the shape that a model takes.
void each_test_batch(const Dataset& data, const SampleShape& input, const std::function<void(const Batch&)>& use);

/// The shape in which a model of the table takes samples of a data set: pictures of one channel go to each of its
/// channels, and a frame of zeros around those that are too small. \throws Error (usage) where it takes none of them.
SampleShape input_for(const ModelEntry& entry, const Dataset& data);

}  // namespace hbench
