#pragma once

/// The plan of `hbench collective`: which cases run in which processes, in which order. Pure.

#include <cstdint>
#include <string>
#include <vector>

#include "bench/collective/candidates.hpp"
#include "bench/collective/request.hpp"

namespace hbench {

/// Cases that share their processes. Cases of one size follow each other and take turns.
struct ProcessSet {
  std::string program = {};  ///< a key of `RunOptions::programs`; empty: our own worker
  bool threads = false;      ///< ranks are threads of one process
  int workers = 1;
  int ranks = 1;  ///< workers and dedicated servers
  std::vector<LoopCase> cases;
};

struct CollectivePlan {
  std::vector<ProcessSet> sets;
  std::vector<Case> simulated;  ///< on clusters
  std::vector<Refusal> refused;
  int cases = 0;            ///< measured; indices are 0 .. cases-1
  bool comparison = false;  ///< several candidates for one size
};

/// \throws Error (usage) for unknown names, for what nothing can do, and when nothing is left.
CollectivePlan make_collective_plan(const CollectiveRequest& request, const CollectiveMachine& machine,
                                    const std::vector<std::int64_t>& tensors);

/// `ring by mpi`, `ring + fp16 by shm`, `Gloo ring-chunked`: a candidate for people.
std::string candidate_label(const Case& asked);

/// Whether it is another library's: what ours are compared with.
bool is_peer(const Case& asked);

}  // namespace hbench
