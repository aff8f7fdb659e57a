#pragma once

/// What a training step has to keep on one GPU: the state of the model, and activations for the backward pass.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "collectives/base/units.hpp"
#include "workloads/optimizers/optimizer.hpp"
#include "workloads/presets/preset.hpp"
#include "workloads/step/precision.hpp"
#include "workloads/step/trace.hpp"

namespace hbench {

/// Which activations the backward pass computes again instead of keeping them (activation checkpointing), as
/// Korthikanti et al., MLSys 2023 (arXiv:2205.05198), name them.
enum class Recomputation : std::uint8_t {
  none,
  selective,  ///< the scores of attention
  full,       ///< all but the input of each layer
};

struct RecomputationEntry {
  std::string_view name;
  std::string_view summary;
  Recomputation recomputation;
};

/// The table.
std::span<const RecomputationEntry* const> recomputations();
const RecomputationEntry& entry_of(Recomputation recomputation);
/// \throws Error (usage), with a suggestion.
Recomputation parse_recomputation(std::string_view name);

/// Why nothing is known of a workload that is trained so: one sentence for a person; empty where it is. Layers are
/// known of transformers by their numbers, and attention that is fused keeps no scores to compute again.
std::string refuse_recomputation(const Trace& trace, Recomputation recomputation);

/// The share of the forward pass that the backward pass repeats, by FLOPs: of full recomputation all layers, without
/// the output layer (the hardware FLOPs of Narayanan et al., SC 2021, section 5); of selective what makes the scores of
/// attention and what they weigh, which avoids more than nine tenths of that (Korthikanti et al., abstract). \pre
/// `refuse_recomputation` has nothing against it.
double recomputed_share(const Trace& trace, Recomputation recomputation);

/// How many bytes the numbers of a training have: what travels, and what a GPU keeps.
struct NumberBytes {
  double activation = 4;
  double weight = 4;
  double gradient = 4;  ///< also on its way to other ranks, where no compressor codes it
  double master = 0;    ///< of the float32 copy of a weight in 16 bits that the optimizer keeps
  double state = 4;     ///< of each other number of the optimizer
  bool copies = false;  ///< autocast keeps weights in 16 bits beside those in float32

  bool half_gradients() const { return gradient == 2; }
  /// Of a parameter that is gathered for a pass, in the type in which that computes.
  double gathered() const { return copies ? 2 : weight; }
};

/// Of training in this precision by a framework (null: none is named). 16 bits are autocast's, which leaves weights and
/// gradients in float32, unless the framework says otherwise (`Preset::half`) or nothing is float32 (bf16-true).
NumberBytes number_bytes(Precision precision, const Preset* preset);

/// Bytes that a layer keeps for each token in 16 bits: for each number of its width, for each of its feed-forward
/// width, and for each score of attention.
struct ActivationRule {
  double width = 0, ffn = 0, score = 0;
};
/// Megatron-LM: 34 s b h (1 + 5 a s / (34 h)) for a layer whose feed-forward width is 4 h (Korthikanti et al., equation
/// 1), and the same with fused attention, which keeps no scores.
inline constexpr ActivationRule kMegatronActivations{.width = 18, .ffn = 4, .score = 5};
inline constexpr ActivationRule kFusedActivations{.width = 18, .ffn = 4, .score = 0};
/// PyTorch with autocast and the models of transformers 4.57, counted from what their operations save: norms in float32
/// whose results are copied to 16 bits for each matrix, GPT-2's GELU of seven operations, and no scores of attention.
ActivationRule pytorch_activations(TransformerFamily family);

/// Megatron-LM's division of a layer.
struct LayerDivision {
  int tensor_parallel = 1;
  bool sequence_parallel = false;  ///< norms and dropout are divided as well
};

/// What the layers keep of `batch` sequences in 16 bits, without embedding and output layer. Full recomputation keeps
/// 2 s b h for each layer, on every rank.
Bytes layer_activations(const TransformerShape& shape, int batch, const ActivationRule& rule,
                        Recomputation recomputation, const LayerDivision& division = {});

/// The scores of all words and their gradients, as fused operations keep them.
Bytes word_scores(const TransformerShape& shape, int batch);

/// What one GPU keeps in plain data parallelism.
struct StepMemory {
  Bytes weights, gradients, optimizer;
  Bytes activations;  ///< and the words' scores; 0: not known

  Bytes state() const { return weights + gradients + optimizer; }
  /// What memory moves in an update: all of the state is read, and all but gradients written.
  Bytes moved_by_update() const { return 2 * weights + gradients + 2 * optimizer; }
  Bytes total() const { return state() + activations; }
};

/// Of `batch` samples. GPT and LLaMA are trained with fused attention, as their rates stand for it;
/// BERT as PyTorch does it; of convolutions every number is kept that a layer writes. What is computed again is there
/// for one layer at a time, and not while the words' scores are. The optimizer is the trace's (`Trace::state_bytes`)
/// where none is given. \pre `refuse_recomputation` has nothing against it.
StepMemory step_memory(const Trace& trace, int batch, const NumberBytes& bytes,
                       Recomputation recomputation = Recomputation::none,
                       const std::optional<OptimizerChoice>& optimizer = std::nullopt);
/// The same of a transformer in plain PyTorch, at its peak: before gradients are there, when the words' scores and
/// their gradients are.
Bytes pytorch_peak(const TransformerShape& shape, int batch);

}  // namespace hbench
