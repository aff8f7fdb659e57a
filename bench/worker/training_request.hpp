#pragma once

#include "bench/worker/protocol.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// An order in the words of the training engine.
TrainingRequest training_request(const WorkOrder& order);

}  // namespace hbench
