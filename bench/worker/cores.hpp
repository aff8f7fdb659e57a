#pragma once

/// The core on which a rank runs: a rank stands for a GPU, and does not grow when it is alone.

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "collectives/base/units.hpp"
#include "collectives/endpoints/endpoint.hpp"

namespace hbench {

/// A rank's number among those of its host, as its launcher says (Open MPI, MPICH and Intel MPI, PMI, Slurm); nothing
/// where it does not. `variable` gives the value of an environment variable, null where there is none. Pure.
std::optional<int> launched_local_rank(const std::function<const char*(const char* name)>& variable);

/// The core for a rank: those that it may use are shared out in turn. Pure. \pre `cores` is not empty.
int core_of(int local_rank, std::span<const int> cores);

/// Cores that the calling thread may use; empty where the system does not tell.
std::vector<int> allowed_cores();

/// Binds the calling thread, and threads that it will start, to the core of `local_rank` among those that it may use.
void pin_to_core(int local_rank);

/// The same for a rank of a job of processes, whose number is the launcher's or found by asking the others: all ranks
/// call it. \throws Error (lost_rank) when one does not within `timeout`.
void pin_process(Endpoint& endpoint, Seconds timeout);

}  // namespace hbench
