#pragma once

/// How a model is divided among ranks, of which data parallelism has replicas.

#include "collectives/schedule/rank_groups.hpp"

namespace hbench {

/// Ranks are in Megatron-LM's order: those of a tensor group are neighbours, then come replicas, then stages.
struct ModelDivision {
  int tensor = 1;         ///< ranks that share each layer, and what lies between layers (sequence parallelism)
  int stages = 1;         ///< of a pipeline
  int micro_batches = 1;  ///< of a step of the pipeline
  int chunks = 1;         ///< of layers on each stage, interleaved

  /// Returns the ranks of a replica.
  int ranks() const { return tensor * stages; }
  /// Whether each rank has all of the model, and a step is of one micro-batch.
  bool none() const { return ranks() == 1 && micro_batches == 1; }
  /// Returns the ranks that have the same part, in groups.
  RankGroups replicas(int workers) const { return {.size = workers / ranks(), .stride = tensor}; }
  RankGroups tensor_groups() const { return {.size = tensor}; }

  friend bool operator==(const ModelDivision&, const ModelDivision&) = default;
};

}  // namespace hbench
