#pragma once

#include "analysis/records.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/network/step_simulator.hpp"

namespace hbench {

/// The table entries that a stored strategy names. \pre its algorithm is not `none`.
/// \throws Error (usage) for a name that this version does not know.
StepStrategy resolve(const Strategy& strategy);

/// What a training case ran on: `mpi` where it tells nothing. \throws Error (usage) for a name that this version does
/// not know.
const ExecutorKind& executor_of(const TrainingTask& training);
/// How a training case tells it.
std::string told_executor(std::string_view name);

}  // namespace hbench
