#include "workloads/step/step_memory.hpp"

#include <algorithm>
#include <array>

#include "collectives/base/table.hpp"

namespace hbench {
namespace {

constexpr RecomputationEntry kNone{"none", "all activations are kept", Recomputation::none};
constexpr RecomputationEntry kSelective{"selective", "the scores of attention are computed again",
                                        Recomputation::selective};
constexpr RecomputationEntry kFull{"full", "each layer is computed again from its input", Recomputation::full};
/// In the order of `Recomputation`.
constexpr std::array kRecomputations{&kNone, &kSelective, &kFull};

/// Of the numbers of a layer's width, those outside of its matrices, which tensor parallelism does not divide
/// (Korthikanti et al., equation 2: 10 s b h).
constexpr double kUndivided = 10;
/// Bytes for each word's score at the peak: 16 bits, their logarithms in float32 and the gradient of those; causal
/// models of transformers have a copy in float32 as well. Fused: 16 bits and the gradient.
constexpr double kPyTorchScores = 10, kCausalCopy = 4, kFusedScores = 6;
/// Of parameters in float32: themselves and Adam's two moments. Autocast keeps copies of them in 16 bits.
constexpr double kStateWithoutGradients = 12, kCopies = 2;

/// In the order of `TransformerFamily`.
constexpr std::array<ActivationRule, 3> kPyTorch{
    {{.width = 22, .ffn = 16, .score = 0}, {.width = 28, .ffn = 8, .score = 0}, {.width = 26, .ffn = 4, .score = 0}}};

/// `Trace::state_bytes` has weights and gradients in float32 and the optimizer's numbers beside them. Fewer bytes than
/// those two take are halved.
StepMemory state_of(const Trace& trace, const NumberBytes& bytes, const std::optional<OptimizerChoice>& optimizer) {
  constexpr double kFloatBytes = 4;
  const double each = std::min(kFloatBytes, trace.state_bytes / 2), elements = trace.elements();
  const double beside = optimizer ? kFloatBytes * optimizer->state() : trace.state_bytes - 2 * each;
  return {.weights = Bytes(each * elements * bytes.weight / kFloatBytes),
          .gradients = Bytes(each * elements * bytes.gradient / kFloatBytes),
          .optimizer = Bytes((beside * bytes.state / kFloatBytes + bytes.master) * elements),
          .activations = Bytes(0)};
}

}  // namespace

std::span<const RecomputationEntry* const> recomputations() { return kRecomputations; }

const RecomputationEntry& entry_of(Recomputation recomputation) {
  return *kRecomputations[static_cast<std::size_t>(recomputation)];
}

Recomputation parse_recomputation(std::string_view name) {
  return find_entry(recomputations(), name, "recomputation").recomputation;
}

std::string refuse_recomputation(const Trace& trace, Recomputation recomputation) {
  if (recomputation == Recomputation::none) return {};
  if (!trace.shape)
    return "what its layers keep is not known; it is of transformers by their numbers (hbench list workloads)";
  if (recomputation == Recomputation::selective && trace.shape->fused)
    return "its attention is fused and keeps no scores that could be computed again, as PyTorch's does: leave "
           "--recompute out, take --recompute full for all layers, or give its numbers with attention=plain";
  return {};
}

double recomputed_share(const Trace& trace, Recomputation recomputation) {
  if (recomputation == Recomputation::none) return 0;
  const TransformerShape& shape = trace.shape.value();
  const double words = shape.seq, width = shape.hidden, flops = shape.cost().flops;
  if (recomputation == Recomputation::selective) return 12 * shape.layers * width * words * words / flops;
  return 1 - 6 * words * width * shape.vocab / flops;
}

NumberBytes number_bytes(Precision precision, const Preset* preset) {
  switch (precision) {
    case Precision::float32:
    case Precision::tf32:
      return {};
    case Precision::bf16_true:
      return {.activation = 2, .weight = 2, .gradient = 2, .state = 2};
    case Precision::bf16:
    case Precision::fp16:
      break;
  }
  if (preset == nullptr || !preset->half.weights) return {.activation = 2, .copies = true};
  const bool half = precision == Precision::bf16 ? preset->half.bf16_gradients : preset->half.fp16_gradients;
  return {.activation = 2, .weight = 2, .gradient = half ? 2.0 : 4.0, .master = 4};
}

ActivationRule pytorch_activations(TransformerFamily family) { return kPyTorch.at(static_cast<std::size_t>(family)); }

Bytes layer_activations(const TransformerShape& shape, int batch, const ActivationRule& rule,
                        Recomputation recomputation, const LayerDivision& division) {
  const double tokens = static_cast<double>(shape.seq) * batch * shape.layers;
  if (recomputation == Recomputation::full) return Bytes(2 * tokens * shape.hidden);
  const double scores =
      recomputation == Recomputation::selective ? 0 : rule.score * shape.heads * static_cast<double>(shape.seq);
  const double kept = rule.width * shape.hidden + rule.ffn * shape.ffn + scores;
  const double undivided = division.sequence_parallel ? 0 : kUndivided * shape.hidden;
  return Bytes(tokens * (undivided + (kept - undivided) / division.tensor_parallel));
}

Bytes word_scores(const TransformerShape& shape, int batch) {
  return Bytes(static_cast<double>(shape.seq) * batch * shape.vocab * kFusedScores);
}

StepMemory step_memory(const Trace& trace, int batch, const NumberBytes& bytes, Recomputation recomputation,
                       const std::optional<OptimizerChoice>& optimizer) {
  StepMemory memory = state_of(trace, bytes, optimizer);
  if (!trace.cost) return memory;
  const double wider = bytes.activation / 2;
  if (!trace.shape) {
    memory.activations = Bytes(trace.cost->activations * batch * 2 * wider);
    return memory;
  }
  const TransformerShape& shape = *trace.shape;
  const bool plain = shape.family == TransformerFamily::bert;
  ActivationRule rule = plain ? pytorch_activations(shape.family) : kFusedActivations;
  if (!shape.fused) rule.score = kMegatronActivations.score;
  const Bytes all = layer_activations(shape, batch, rule, Recomputation::none) * wider;
  const Bytes kept = layer_activations(shape, batch, rule, recomputation) * wider;
  const Bytes of_layer = (all - kept) / shape.layers;
  const Bytes words = word_scores(shape, batch) * (plain ? kPyTorchScores / kFusedScores : 1);
  memory.activations = kept + std::max(of_layer, words);
  if (plain && bytes.copies) memory.weights += Bytes(kCopies * shape.parameters());
  return memory;
}

Bytes pytorch_peak(const TransformerShape& shape, int batch) {
  const double words = static_cast<double>(shape.seq) * batch * shape.vocab;
  const double score = kPyTorchScores + (shape.family == TransformerFamily::bert ? 0 : kCausalCopy);
  return Bytes((kStateWithoutGradients + kCopies) * shape.parameters() + words * score) +
         layer_activations(shape, batch, pytorch_activations(shape.family), Recomputation::none);
}

}  // namespace hbench
