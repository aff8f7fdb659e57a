#pragma once

/// What this machine and this build have for `hbench collective`: cores, memory, MPI, and the peers' programs.
///
/// The programs whose ranks have other libraries' all-reduces.

#include <filesystem>

#include "bench/collective/candidates.hpp"
#include "bench/collective/plan.hpp"
#include "bench/collective/run.hpp"

namespace hbench {

struct CollectiveSetup {
  CollectiveMachine machine;
  RunOptions run;  ///< programs, cores, launcher's path
};

/// With `--peers` also what `find_peers` finds. \throws Error (usage) as that does.
CollectiveSetup look_for_programs(const CollectiveOptions& options);

/// Returns the clusters that a request simulates on, and the memory for that. Neither launchers nor libraries are
/// looked for, because nothing is measured.
CollectiveSetup look_for_clusters(const CollectiveRequest& request);

/// Adds the peers that are here to `machine`, and their programs to `run`: of `hbench_peers` beside our own worker,
/// `run.programs[""]`, and of libraries whose ABI a worker has, in the folder that HBENCH_PEERS names. `mpich` is the
/// worker that was built with MPICH; empty: that of the preset `mpich`. What is not here is listed with the line that
/// installs it. \throws Error (usage) when `mpich` is no program, or HBENCH_PEERS no folder with one of the libraries.
void find_peers(const std::filesystem::path& mpich, CollectiveMachine& machine, RunOptions& run);

}  // namespace hbench
