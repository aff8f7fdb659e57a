#pragma once

/// How a launch of ranks ended, in words.

#include <map>
#include <string>
#include <vector>

#include "bench/process.hpp"
#include "bench/worker_protocol.hpp"
#include "collectives/base/error.hpp"

namespace hbench {

/// What the ranks of one launch said about themselves.
struct Heard {
  std::vector<FailureLine> failures;
  std::map<int, int> pids;       ///< by rank
  std::map<int, int> last_step;  ///< by rank
  std::map<int, char> states;    ///< by rank, as `process_state`, when all had fallen silent
  bool complete = false;         ///< who says so at its end has said so
};

struct Ending {
  ExitCode code = ExitCode::good;
  std::string reason;  ///< one line; empty when good
};

void look_at_processes(Heard& heard);

/// Names the rank that was lost where it can be known: by what ranks said, by the launcher's words, or, when all fell
/// silent, by the state of the processes on this host.
Ending judge(const Heard& heard, const Exit& exit, int processes, Seconds silence);

}  // namespace hbench
