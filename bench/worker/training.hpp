#pragma once

/// The ranks of a measured or emulated training step in a process of their own: what `hbench-worker worker` does with a
/// work order.

#include "bench/worker/rank.hpp"

namespace hbench {

/// Runs the order, this process being one rank or, where its executor's ranks are threads, all of them. The exit code;
/// ranks that fail have said why.
ExitCode run_training_worker(const WorkOrder& order, const Say& say);

/// One rank of an emulated launch: replays its timeline on the links that this process finds itself on. It is bound to
/// no core, since ranks share them. \pre `order.emulation`
ExitCode run_emulated_worker(const WorkOrder& order, const Say& say);

}  // namespace hbench
