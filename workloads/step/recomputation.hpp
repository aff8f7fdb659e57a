#pragma once

/// Which activations the backward pass computes again instead of keeping them (activation checkpointing).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "workloads/step/trace.hpp"

namespace hbench {

/// As Korthikanti et al., MLSys 2023 (arXiv:2205.05198), name them.
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

}  // namespace hbench
