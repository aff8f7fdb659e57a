#include "workloads/step/divided_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace hbench {
namespace {

std::string refuse_pipeline(const ModelDivision& division, int layers) {
  const int parts = division.stages * division.chunks;
  if (parts > layers)
    return fmt::format("a pipeline of {} stages{} has more of them than the {} layers of the model", division.stages,
                       division.chunks > 1 ? fmt::format(" with {} chunks each", division.chunks) : "", layers);
  if (layers % parts != 0)
    return fmt::format("{} layers are no multiple of {} stages{}", layers, division.stages,
                       division.chunks > 1 ? fmt::format(" with {} chunks each", division.chunks) : "");
  if (division.chunks == 1) return {};
  if (division.stages == 1) return "chunks are interleaved between stages, and a pipeline of one has none";
  if (division.micro_batches % division.stages != 0)
    return fmt::format("an interleaved pipeline of {} stages needs a multiple of {} micro-batches, not {}",
                       division.stages, division.stages, division.micro_batches);
  return {};
}

/// Why a step of these samples cannot be shared out.
std::string refuse_samples(const std::string& method, const ModelDivision& division, const DividedJob& job) {
  if (job.accumulate > 1)
    return fmt::format("the micro-batches of {} are those of its pipeline: write such as pipeline:{}:{}", method,
                       division.stages, job.accumulate);
  const std::int64_t of_replica = std::int64_t{job.batch_per_gpu} * division.ranks();
  if (of_replica % division.micro_batches == 0) return {};
  return fmt::format("{} samples per GPU are {} of the {} GPUs of a replica, and no multiple of {} micro-batches",
                     job.batch_per_gpu, of_replica, division.ranks(), division.micro_batches);
}

}  // namespace

EqualBlocks blocks_of(const TransformerShape& shape, double activation_bytes) {
  TransformerShape fewer = shape;
  --fewer.layers;
  const double each = shape.parameters() - fewer.parameters(), rest = shape.parameters() - each * shape.layers;
  const double words = static_cast<double>(shape.vocab) * shape.hidden;
  return {.count = shape.layers,
          .share = 1 - fewer.cost().flops / shape.cost().flops,
          .elements = each,
          .before = rest - (shape.tied ? 0 : words),
          .after = words,
          .passed_on = static_cast<double>(shape.seq) * shape.hidden * activation_bytes};
}

std::string refuse_division(const MethodChoice& method, const Trace& trace, const DividedJob& job) {
  const ModelDivision& division = method.division;
  if (division.none()) return {};
  const std::string name = method.text();
  if (!trace.shape)
    return fmt::format("{} divides a transformer whose numbers are known, such as llama2-13b, and {} is none", name,
                       trace.name);
  if (division.tensor > 1 && trace.shape->heads % division.tensor != 0)
    return fmt::format("tensor:{} needs a number that divides the {} heads of the model", division.tensor,
                       trace.shape->heads);
  if (division.tensor > 1 && job.gpus_per_node % division.tensor != 0)
    return fmt::format("tensor:{} needs a number that divides a node of {} GPUs", division.tensor, job.gpus_per_node);
  if (std::string why = refuse_pipeline(division, trace.shape->layers); !why.empty()) return why;
  if (job.workers % division.ranks() != 0)
    return fmt::format("{} has {} GPUs in a replica, and {} are no multiple of that", name, division.ranks(),
                       job.workers);
  return refuse_samples(name, division, job);
}

StepMemory divided_memory(const Trace& trace, const ModelDivision& division, int batch, int replicas,
                          const NumberBytes& bytes, Recomputation recomputation,
                          const std::optional<OptimizerChoice>& optimizer) {
  const TransformerShape& shape = *trace.shape;
  const EqualBlocks blocks = blocks_of(shape, bytes.activation);
  StepMemory memory = step_memory(trace, batch, bytes, recomputation, optimizer);
  const int own_blocks = blocks.count / division.stages;
  const bool all = division.stages == 1;
  const double own = own_blocks * blocks.elements + blocks.before + (all && !shape.tied ? blocks.after : 0);
  const double share = own / shape.parameters() / division.tensor;
  for (Bytes StepMemory::*part : {&StepMemory::weights, &StepMemory::gradients, &StepMemory::optimizer})
    memory.*part = memory.*part * share;
  memory.optimizer = memory.optimizer / replicas;
  ActivationRule rule = kFusedActivations;
  if (!shape.fused) rule.score = kMegatronActivations.score;
  const LayerDivision layer{.tensor_parallel = division.tensor, .sequence_parallel = division.tensor > 1};
  const auto kept = [&](Recomputation how) {
    // Of full recomputation the input of each layer, which a tensor group shares out as all between layers.
    const int sharing = how == Recomputation::full ? division.tensor : 1;
    return layer_activations(shape, batch, rule, how, layer) * (bytes.activation / 2 / sharing);
  };
  const Bytes of_layer = (kept(Recomputation::none) - kept(recomputation)) / shape.layers;
  const Bytes words = all ? word_scores(shape, batch) / division.tensor : Bytes(0);
  const int in_flight = std::min(division.stages, division.micro_batches);
  const double further_chunks = division.chunks > 1 ? (division.stages - 1.0) / (division.stages * division.chunks) : 0;
  memory.activations =
      kept(recomputation) / division.stages * (in_flight * (1 + further_chunks)) + std::max(of_layer, words);
  return memory;
}

}  // namespace hbench
