#pragma once

#include "workloads/engine/messages.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// How far a job has come.
struct JobProgress {
  int steps = 0;  ///< done, warm-up included
  int timed = 0;  ///< done and timed
  int traced = 0;
  Seconds elapsed;
  int start = 0;  ///< steps before the warm-up, in which the plan has not begun all it does: as `StepPlan::start`

  /// A cycle of the plan's `iterations` is done.
  void count(Phase phase, int iterations = 1) {
    steps += iterations;
    timed += phase == Phase::timed ? iterations : 0;
    traced += phase == Phase::traced ? iterations : 0;
  }
};

/// What follows the timed steps. Once the budget is spent three times, one traced step is enough.
inline Phase next_traced_phase(const TrainingRequest& request, const JobProgress& progress) {
  const bool enough = request.budget > Seconds(0) && progress.elapsed > 3 * request.budget && progress.traced > 0;
  return progress.traced < request.traced_steps && !enough ? Phase::traced : Phase::stop;
}

/// What the next step is. A spent budget ends the warm-up and, once one step has been timed, the timed steps.
inline Phase next_phase(const TrainingRequest& request, const JobProgress& progress) {
  const bool spent = request.budget > Seconds(0) && progress.elapsed > request.budget;
  if (progress.timed >= request.steps || (spent && progress.timed > 0)) return next_traced_phase(request, progress);
  const int warm_at = progress.start + (spent ? 0 : request.warmup_steps);
  return progress.steps < warm_at ? Phase::warmup : Phase::timed;
}

}  // namespace hbench
