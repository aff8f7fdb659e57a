#pragma once

/// How a job of ranks ended, in words.

#include <map>
#include <string>
#include <vector>

#include "bench/launch/process.hpp"
#include "bench/worker/protocol.hpp"
#include "collectives/base/error.hpp"

namespace hbench {

/// What the ranks of one job reported.
struct RankReports {
  std::vector<FailureLine> failures;
  std::map<int, ProcessIdentity> processes;  ///< by rank
  std::map<int, int> last_step;              ///< by rank
  /// By rank, as `ProcessStatus::state`, 0 when the process is gone; at the time-out, of processes on this host.
  std::map<int, char> states;
  bool complete = false;  ///< the last report that the job owes has come
};

struct JobOutcome {
  ExitCode code = ExitCode::good;
  std::string reason;  ///< one line; empty when good
};

/// Asks this host for the states of the ranks' processes.
void record_process_states(RankReports& reports);

/// Names the rank that was lost where it can be known: by what ranks reported, by the launcher's messages, or, when no
/// rank reported in time, by the states of the processes. `timeout` is the one that the job ran into, if any.
JobOutcome job_outcome(const RankReports& reports, const Exit& exit, int processes, Seconds timeout);

}  // namespace hbench
