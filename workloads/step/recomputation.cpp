#include "workloads/step/recomputation.hpp"

#include <fmt/format.h>

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
    return "its attention is fused and keeps no scores that could be computed again: take --recompute full, or give "
           "its numbers with attention=plain";
  return {};
}

double recomputed_share(const Trace& trace, Recomputation recomputation) {
  if (recomputation == Recomputation::none) return 0;
  const TransformerShape& shape = trace.shape.value();
  const double words = shape.seq, width = shape.hidden, flops = shape.cost().flops;
  if (recomputation == Recomputation::selective) return 12 * shape.layers * width * words * words / flops;
  return 1 - 6 * words * width * shape.vocab / flops;
}

}  // namespace hbench
