// hbench_peers: hbench's worker with other libraries' collectives. `hbench collective --peers` starts it.

#include <fmt/format.h>

#include <exception>

#include "bench/peers/peers.hpp"
#include "bench/verbs/worker.hpp"

int main(int argc, char** argv) {
  using namespace hbench;
  // Where the loader finds oneCCL, hbench has asked for it.
  const PeerSet oneccl = oneccl_peers();
  const PeerSet peers = oneccl.peers.empty() ? gloo_peers() : oneccl;
  const std::string_view verb = argc > 1 ? argv[1] : "";
  try {
    if (verb == "worker") return static_cast<int>(run_worker({{argv + 2, argv + argc}, "hbench_peers"}, peers));
    if (verb != "peers")
      throw Error(ExitCode::usage, "this program is for hbench collective --peers, not for people",
                  "hbench_peers peers lists what it has");
    for (const Peer& peer : peers.peers) fmt::print("{} {}\n", peer.library, peer.algorithm);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "hbench_peers: {}\n  {}\n", error.what(), error.hint());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "hbench_peers: internal error: {}\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}
