#pragma once

#include "bench/worker/peer.hpp"

namespace hbench {

/// Gloo's all-reduces, as its own benchmark uses them: TCP with a thread of its own per process, asynchronous.
PeerSet gloo_peers();

}  // namespace hbench
