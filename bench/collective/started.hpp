#pragma once

/// `mpirun -n 4 hbench collective`: ranks that a launcher has started as the verb itself.

#include <functional>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/collective/plan.hpp"
#include "bench/collective/request.hpp"

namespace hbench {

/// This process among those that a launcher started, by the launcher's own variables.
struct StartedRanks {
  int ranks = 0;  ///< 0: nobody started us
  int rank = 0;
};

/// From what Open MPI, MPICH and Slurm set (OMPI_COMM_WORLD_*, PMI_*, PMIX_*, SLURM_*).
StartedRanks find_started_ranks();

/// \throws Error (usage) for what ranks that a launcher has started cannot do.
void refuse_for_started(const CollectiveOptions& options, const StartedRanks& started);

/// Runs the plan's cases on the ranks that are there. Returns the results on rank 0, and nothing elsewhere. `on_done`
/// is called on rank 0, with each result. A rank that fails says why and ends the job, which does not return.
std::vector<CaseResult> run_as_started(const CollectivePlan& plan, const LoopOptions& options,
                                       const StartedRanks& started,
                                       const std::function<void(const CaseResult&)>& on_done);

}  // namespace hbench
