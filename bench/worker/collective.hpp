#pragma once

/// The ranks of `hbench collective` in a process of their own: what `hbench-worker worker` does with a collective
/// order.

#include "bench/worker/rank.hpp"
#include "bench/worker/rank_loop.hpp"

namespace hbench {

/// Whether any of them works on a GPU: such ranks have threads of NCCL's, which need cores of their own.
bool uses_gpus(std::span<const LoopCase> cases);

/// Runs the order, this process being one rank or, with threads, all of them. The exit code; ranks that fail have said
/// why.
ExitCode run_collective_worker(const CollectiveOrder& order, const PeerSet& peers, const Say& say);

}  // namespace hbench
