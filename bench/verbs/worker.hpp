#pragma once

#include "bench/peers/peer.hpp"
#include "bench/verbs/verb.hpp"

namespace hbench {

/// The verb `worker` of a program that has these peers.
ExitCode run_worker(const Call& call, const PeerSet& peers);

}  // namespace hbench
