#pragma once

/// What training on one sample costs a GPU, counted from the layers of a model.

#include <cstdint>
#include <string_view>

namespace hbench {

/// Models of a kind use GPUs about equally well.
enum class WorkloadKind : std::uint8_t {
  convolutions,
  encoder,  ///< transformers that see their whole input: BERT, vision transformers
  decoder,  ///< transformers that generate: GPT, LLaMA
};

/// `convolutions`, `encoder`, `decoder`.
std::string_view to_string(WorkloadKind kind);
/// \throws Error (usage).
WorkloadKind parse_workload_kind(std::string_view name);

struct WorkloadCost {
  WorkloadKind kind = WorkloadKind::convolutions;
  /// Floating-point operations of the forward and the backward pass, a multiply-add counted as two; the backward pass
  /// has twice those of the forward pass. Nothing is computed twice.
  double flops = 0;
  /// Numbers that layers write in the forward pass: outputs of matrix products, convolutions, normalisations and
  /// activation functions that do not overwrite their input.
  double activations = 0;
};

}  // namespace hbench
