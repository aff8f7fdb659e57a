#pragma once

/// What this machine and this build have for `hbench collective`: cores, memory, MPI, and the peers' programs.

#include "bench/collective/plan.hpp"
#include "bench/collective/run.hpp"

namespace hbench {

struct CollectiveSetup {
  CollectiveMachine machine;
  RunOptions run;  ///< programs, cores, launcher's path
};

/// The program with the peers lies beside this one (`hbench_peers`), MPICH's in the build folder of the preset `mpich`,
/// or where `options.mpich` says. What `--peers` does not find is listed with its cure.
/// \throws Error (usage) when `options.mpich` is no program.
CollectiveSetup look_for_programs(const CollectiveOptions& options);

/// Returns the clusters that a request simulates on, and the memory for that. Neither launchers nor libraries are
/// looked for, because nothing is measured.
CollectiveSetup look_for_clusters(const CollectiveRequest& request);

}  // namespace hbench
