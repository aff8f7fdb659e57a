#pragma once

/// A rank's part in a training job.

#include <functional>

#include "collectives/endpoints/endpoint.hpp"
#include "workloads/engine/replica.hpp"
#include "workloads/training.hpp"

namespace hbench {

using OnStep = std::function<void(const StepReport&)>;

/// Trains `replica` alone, without the engine: the baseline.
void train_alone(Replica& replica, const TrainingRequest& request, const OnStep& on_step);
/// Trains `replica` together with the other ranks. Where there are none and gradients travel as they are, a sum is the
/// gradient itself: then `endpoint` is not used, and no communication thread is started.
void train_together(Replica& replica, const TrainingRequest& request, Endpoint& endpoint, const OnStep& on_step);
/// Reduces for the others, as a dedicated server.
void serve(const TrainingRequest& request, Endpoint& endpoint);

}  // namespace hbench
