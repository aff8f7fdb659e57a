#pragma once

/// Runs a plan of collectives in processes of their own, and collects what rank 0 of each says.
///
/// `mpirun -n 4 hbench collective`: ranks that a launcher has started as the verb itself.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/collective/plan.hpp"
#include "bench/collective/request.hpp"
#include "bench/command/program.hpp"
#include "bench/launch/host.hpp"

namespace hbench {

/// What the ranks of a process set run.
struct RankProgram {
  std::string path;
  std::string launcher = "mpirun";                   ///< by name
  std::map<std::string, std::string> environment{};  ///< added to ours; a PATH in it is where the launcher is found
  std::string executor{};                            ///< what the program calls that of a case; empty: as the plan
};

/// How process sets are started.
struct RunOptions {
  std::map<std::string, RankProgram> programs;  ///< by `ProcessSet::program`
  LoopOptions loop;
  int launches = 1;
  Host host = this_host();
};

/// The functions that report to the caller while it runs.
struct RunProgress {
  std::function<void(const std::string& what)> doing;
  /// Called at once when a case has all its launches behind it, or has failed, while the other cases go on. May throw,
  /// which stops the ranks.
  std::function<void(const CaseResult& result)> done;
};

/// Returns the results, by the plan's indices. A lost or hung rank fails the case that was running, by name; the others
/// are run again without it. Launches alternate the order of the process sets. Ends early on Ctrl-C, with what there
/// is. \throws Error (environment) when a launcher is missing.
std::vector<CaseResult> run_collectives(const CollectivePlan& plan, const RunOptions& options,
                                        const RunProgress& progress);

/// About how long one launch of the whole plan takes.
double launch_seconds(const CollectivePlan& plan, const LoopOptions& loop);

/// Adds what a loop says about a case to its result.
void add_to(CaseResult& result, const LoopResult& loop, int launch);

/// \throws Error (usage) for what ranks that a launcher has started cannot do.
void refuse_for_started(const CollectiveOptions& options, const StartedRanks& started);

/// Runs the plan's cases on the ranks that are there. Returns the results on rank 0, and nothing elsewhere. `on_done`
/// is called on rank 0, with each result. A rank that fails says why and ends the job, which does not return.
std::vector<CaseResult> run_as_started(const CollectivePlan& plan, const LoopOptions& options,
                                       const StartedRanks& started,
                                       const std::function<void(const CaseResult&)>& on_done);

}  // namespace hbench
