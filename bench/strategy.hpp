#pragma once

#include "analysis/records.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/network/step_simulator.hpp"
#include "workloads/precision.hpp"

namespace hbench {

/// The table entries that a stored strategy names. \pre its algorithm is not `none`.
/// \throws Error (usage) for a name that this version does not know.
StepStrategy resolve(const Strategy& strategy);

/// What a training case ran on: `mpi` where it tells nothing. \throws Error (usage) for a name that this version does
/// not know.
const ExecutorKind& executor_of(const TrainingTask& training);
/// What it computed with: `float32` where it tells nothing. \throws as `executor_of`.
Precision precision_of(const TrainingTask& training);
/// How a training case tells its executor.
std::string told_executor(std::string_view name);

}  // namespace hbench
