#pragma once

#include "bench/command/verb.hpp"
#include "bench/worker/candidate.hpp"

namespace hbench {

/// Those that only `hbench-worker` has: `worker` and `facts`.
std::span<const Verb* const> worker_verbs();

/// The verb `worker` of a program that has these peers.
ExitCode run_worker(const Call& call, const PeerSet& peers);

}  // namespace hbench
