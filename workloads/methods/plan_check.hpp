#pragma once

/// The proof of a step plan: whatever a method promises is computed on symbols, rank by rank, not taken from its word.

#include <optional>
#include <string>

#include "workloads/methods/step_plan.hpp"

namespace hbench {

/// What a plan that is right does.
struct PlanFacts {
  /// The largest number of iterations whose gradients some rank has not seen of some other when it begins a forward
  /// pass, beyond none: 0 for synchronous training; empty where nothing bounds it, or it grows with the number of
  /// ranks.
  std::optional<int> staleness = 0;
};

struct PlanProof {
  std::string refusal;  ///< the first task that is wrong, in one sentence; empty where the plan is right
  PlanFacts facts;
};

/// Walks `plan` until it has started, and two cycles, on some ranks with symbols for gradients. A plan is right when
///   - every task waits for tasks before it alone, so that nothing waits for ever;
///   - of two tasks that use the same memory, one of which writes it, one waits for the other;
///   - no task reads gradients that a collective has left undefined, or parameters that were freed;
///   - after each cycle all ranks have the same parameters, or each its own part of them where others are freed, and
///     the gradient of every rank in every iteration has been applied to all of them once, with the same weight. Where
///     ranks exchange with servers this is said of what the servers hold, and where they exchange with some others of
///     the mean over all ranks, which no exchange changes.
/// \param groups the number of ranks, or of those that the plan's groups need at least (`least_ranks`). \pre at least 2
PlanProof prove_plan(const StepPlan& plan, int groups = 3);

/// Returns the proof's first two points: which task waits for what it cannot wait for, or uses memory beside another
/// that writes it; empty where none does.
std::string refuse_order(const StepPlan& plan);

}  // namespace hbench
