#pragma once

/// A rank's part in a training job.

#include <functional>

#include "collectives/endpoints/endpoint.hpp"
#include "workloads/engine/checkpoint.hpp"
#include "workloads/engine/compute.hpp"
#include "workloads/engine/handover.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

using OnStep = std::function<void(const StepReport&)>;

/// Trains `compute` alone, without the engine: the baseline.
void train_alone(Compute& compute, const TrainingRequest& request, const OnStep& on_step,
                 const OnCheckpoint& on_checkpoint = {});
/// Trains `compute` together with the other ranks. Where there are none and gradients travel as they are, a sum is the
/// gradient itself, and where no outer update follows: `endpoint` is not used, and no communication thread is started.
/// Checkpoints are written, and gone on from, as the request says. `begin_job`, where it is given, is called with what
/// `compute` meets its communication thread by, which lives until the steps have ended.
TrainingEnd train_together(Compute& compute, const TrainingRequest& request, Endpoint& endpoint, const OnStep& on_step,
                           const OnCheckpoint& on_checkpoint = {},
                           const std::function<void(const Handover&)>& begin_job = {});
/// Reduces for the others, as a dedicated server.
void serve(const TrainingRequest& request, Endpoint& endpoint);

}  // namespace hbench
