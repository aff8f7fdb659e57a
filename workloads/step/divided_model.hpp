#pragma once

/// A transformer that is divided among ranks: whether it can be, its blocks, and what the first stage keeps.

#include <string>

#include "workloads/methods/method.hpp"
#include "workloads/step/step_memory.hpp"
#include "workloads/step/timeline.hpp"
#include "workloads/step/transformer.hpp"

namespace hbench {

/// The blocks of a transformer, whose numbers on their way between layers have `activation_bytes` bytes.
EqualBlocks blocks_of(const TransformerShape& shape, double activation_bytes);

/// What is asked of a divided model.
struct DividedJob {
  int workers = 1;
  int gpus_per_node = 1;
  int batch_per_gpu = 1;  ///< samples of a step of all GPUs over their number
  int accumulate = 0;     ///< micro-batches beside those of the pipeline; 0: none
};

/// Why a model cannot be divided so: one sentence; empty where it can, or is not divided.
std::string refuse_division(const MethodChoice& method, const Trace& trace, const DividedJob& job);

/// What the first stage keeps on one GPU, of micro-batches of `batch` samples: as many blocks as it has, with the
/// activations of all micro-batches that are in the pipeline at once (Korthikanti et al., section 4.2.3), and the
/// embedding. \param replicas among which the optimizer's state is shared out. \pre `refuse_division` has nothing
/// against it
StepMemory divided_memory(const Trace& trace, const ModelDivision& division, int batch, int replicas,
                          const NumberBytes& bytes, Recomputation recomputation,
                          const std::optional<OptimizerChoice>& optimizer = std::nullopt);

}  // namespace hbench
