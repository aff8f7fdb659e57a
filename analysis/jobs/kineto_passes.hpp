#pragma once

/// The backward passes of one step of a trace.

#include <span>

#include "analysis/jobs/kineto_events.hpp"

namespace hbench {

/// What of a step's tasks and gradients its last pass has, where that says all.
struct BackwardPass {
  std::span<const KinetoEvents::Task> tasks;
  std::span<const KinetoEvents::Gradient> gradients;
  int accumulated = 0;   ///< passes of the same gradients before it, which were added up and not sent
  bool repeats = false;  ///< the passes before it had the same gradients, and these were sent each time
};

/// Finds the pass whose gradients are the step's: the last one, where those before it have gradients of the same sizes
/// (micro-batches) and exchange none. Else all passes count as one: of several losses with parameters of their own,
/// and where the recording does not number its operators. `calls` are the collectives of the trace in the order of
/// their begins. \pre tasks and gradients are of one step, in the order of their begins.
BackwardPass last_pass(std::span<const KinetoEvents::Task> tasks, std::span<const KinetoEvents::Gradient> gradients,
                       std::span<const KinetoEvents::Exchange> calls);

}  // namespace hbench
