#pragma once

/// One rank of a worker process, from its first to its last words.

#include <functional>

#include "bench/worker/protocol.hpp"
#include "collectives/base/error.hpp"
#include "collectives/endpoints/endpoint.hpp"

namespace hbench {

/// Says one line to the parent; called by several threads, one line at a time.
using Say = std::function<void(const WorkerLine& line)>;

/// Says hello and does `work`; what that fails of is said, and stops the job that `endpoint` belongs to (null: it is
/// alone). How it ended.
ExitCode run_rank(Endpoint* endpoint, const Say& say, const std::function<void()>& work);

/// \throws Error (environment) where the job does not have `ranks` ranks: each process of a launcher of another MPI is
/// alone.
void require_ranks(const Transport& transport, int ranks);

/// One thread for each rank of this process; the worst that one ended with. `run` gets a `Say` that threads may share.
ExitCode run_ranks_as_threads(int ranks, const Say& say, const std::function<ExitCode(int rank, const Say& say)>& run);

}  // namespace hbench
