#include "bench/peers/peers.hpp"

namespace hbench {

PeerSet gloo_peers() { return {}; }

}  // namespace hbench
