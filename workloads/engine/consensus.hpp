#pragma once

#include <optional>

#include "collectives/endpoints/endpoint.hpp"
#include "workloads/engine/memories.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// Leaves the mean of all workers' parameters on each of them, as jobs whose ranks average with some others end.
/// Overwrites `memory.means`. Returns, on rank 0, the root mean square of the distance of a parameter from that mean
/// before, over all parameters of all workers; elsewhere nothing. All workers call it, and no other thread uses the
/// endpoint. \throws Error (lost_rank).
std::optional<double> take_common_mean(const TrainingRequest& request, Endpoint& endpoint, const ModelMemory& memory);

}  // namespace hbench
