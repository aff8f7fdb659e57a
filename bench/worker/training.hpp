#pragma once

/// The ranks of a measured training step in a process of their own: what `hbench-worker worker` does with a work order.

#include "bench/worker/rank.hpp"

namespace hbench {

/// Runs the order, this process being one rank or, where its executor's ranks are threads, all of them. The exit code;
/// ranks that fail have said why.
ExitCode run_training_worker(const WorkOrder& order, const Say& say);

}  // namespace hbench
