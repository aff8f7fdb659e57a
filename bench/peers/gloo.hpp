#pragma once

#include <gloo/context.h>

#include "bench/worker/peer.hpp"

namespace hbench {

/// Gloo's all-reduces, as its own benchmark uses them: TCP with a thread of its own per process, asynchronous.
PeerSet gloo_peers();

/// Gloo's connections between all ranks, over TCP on the loopback interface; addresses are exchanged by `transport`.
/// \throws Error (lost_rank, environment).
std::shared_ptr<gloo::Context> connect_gloo_context(Transport& transport, Seconds timeout);

}  // namespace hbench
