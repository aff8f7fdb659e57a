#pragma once

#include "workloads/engine/messages.hpp"
#include "workloads/training.hpp"

namespace hbench {

/// How far a job has come.
struct JobProgress {
  int steps = 0;  ///< done, warm-up included
  int timed = 0;  ///< done and timed
  Seconds elapsed;

  void count(Phase phase) {
    ++steps;
    timed += phase == Phase::timed ? 1 : 0;
  }
};

/// What the next step is. A spent budget ends the warm-up and, once one step has been timed, the job.
inline Phase next_phase(const TrainingRequest& request, const JobProgress& progress) {
  const bool spent = request.budget > Seconds(0) && progress.elapsed > request.budget;
  if (progress.timed >= request.steps || (spent && progress.timed > 0)) return Phase::stop;
  return progress.steps < request.warmup_steps && !spent ? Phase::warmup : Phase::timed;
}

}  // namespace hbench
