#pragma once

/// The passes of a pipeline in virtual time: one forward, one backward (1F1B), with chunks of layers interleaved where
/// stages have several.
///
/// The orders are Megatron-LM's (megatron/core/pipeline_parallel/schedules.py). Where passes of all chunks take as long
/// and nothing takes time between stages, a step of m micro-batches on p stages with v chunks each is longer than its
/// passes by (p - 1) / (v m) (Narayanan et al., SC 2021, section 2.2).

#include <vector>

#include "collectives/base/lanes.hpp"
#include "collectives/base/units.hpp"
#include "workloads/methods/method.hpp"

namespace hbench {

/// One micro-batch through one chunk of a stage.
struct PipelinePass {
  bool forward = true;
  int chunk = 0;
  int micro_batch = 0;

  friend bool operator==(const PipelinePass&, const PipelinePass&) = default;
};

/// The passes of a stage in their order.
std::vector<PipelinePass> passes_of(int stage, const ModelDivision& division);

/// How long passes take: one of each chunk, in the order of the model (chunk c of stage s is number c x stages + s),
/// and what passes on between two of them.
struct PipelineTimes {
  std::vector<Seconds> forward, backward;
  Seconds transfer;
};

struct TimedPass {
  PipelinePass pass;
  Seconds begin, end;
};

/// Returns all passes by stage. What a stage sends is on its way beside its further passes.
std::vector<std::vector<TimedPass>> run_pipeline(const ModelDivision& division, const PipelineTimes& times);

/// A picture of a step whose backward passes take twice as long as forward passes, a line for each stage; of long ones
/// the beginning.
Lanes drawn(const ModelDivision& division);

}  // namespace hbench
