#pragma once

/// How many samples a GPU takes in a step: the same at every GPU count (weak scaling), or its share of a global batch
/// (strong scaling), in one micro-batch or several whose gradients are added up. Pure.

#include <string>

#include "analysis/prediction/request.hpp"

namespace hbench {

/// A GPU's part of a step.
struct GpuBatch {
  int batch = 0;        ///< samples per GPU and step, all micro-batches together
  int accumulate = 0;   ///< micro-batches; 0: one
  std::string why_not;  ///< why there is none: a sentence with the nearest global batches; empty: there is one
};

/// The batch of each of `workers` workers, of which `usual` is a micro-batch where nobody asked for another.
GpuBatch gpu_batch(const PredictionRequest& request, int workers, int usual);

/// What a reader of curves must know of batches: `strong scaling: 8192 samples a step at every GPU count`. Empty for
/// weak scaling without accumulation.
std::string batches_in_words(const PredictionRequest& request);

}  // namespace hbench
