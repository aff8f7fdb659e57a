#pragma once

#include "bench/command/verb.hpp"
#include "bench/worker/candidate.hpp"

namespace hbench {

/// Those of hbench, and those that only hbench-worker and hbench-trainer have: `worker`, `facts`, `host` and `reach`.
std::vector<const Verb*> all_verbs();

/// The verb `worker` of a program that has these peers.
ExitCode run_worker(const Call& call, const PeerSet& peers);

}  // namespace hbench
