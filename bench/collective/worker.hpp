#pragma once

/// The ranks of `hbench collective` in a process of their own: what `hbench worker` does with a collective order.

#include <functional>

#include "bench/collective/rank_loop.hpp"
#include "bench/worker_protocol.hpp"
#include "collectives/base/error.hpp"

namespace hbench {

/// Says one line to the parent; called by several threads, one line at a time.
using Say = std::function<void(const WorkerLine& line)>;

/// One core for the calling thread: a rank stands for a GPU, whether it is alone or not.
void pin_to_core(int core);

/// The executors' endpoints of this process, made when first asked for; MPI's is there from the beginning.
std::unique_ptr<RankEndpoints> make_process_endpoints();

/// What rank 0 says while the loop runs.
LoopReport spoken_report(const Say& say);

/// Runs the order, this process being one rank or, with threads, all of them. The exit code; ranks that fail have said
/// why.
ExitCode run_collective_worker(const CollectiveOrder& order, const PeerSet& peers, const Say& say);

}  // namespace hbench
