#pragma once

/// What this machine and this build have for `hbench collective`: cores, memory, MPI, and the peers' programs.

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

}  // namespace hbench
