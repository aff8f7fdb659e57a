#pragma once

/// What a slowed link cannot do by itself: messages that take their latency, and parameter servers that are busy for as
/// long as those of a cluster. Carried by another transport, on links that are slowed to a profile.

#include <memory>
#include <vector>

#include "collectives/transport/transport.hpp"

namespace hbench {

/// Times are those of the clock: dilated already.
struct EmulatedCosts {
  /// Of messages inside a node, or between nodes.
  struct Hop {
    Seconds latency;
    /// Latency of a protocol that sends twice the bytes (`Profile::network_low_latency`); 0: there is none.
    Seconds low_latency;
    double seconds_per_byte = 0;  ///< of the link, by which the second half of those bytes takes longer
  };
  Hop local, network;
  std::vector<int> node_of_rank;
  /// A rank that is a parameter server is busy so long for each byte that is pushed to it or pulled from it; 0: no
  /// time.
  std::vector<double> server_seconds_per_byte;  ///< by rank
  bool groups = false;  ///< ranks of a node add up among themselves first: no server is involved
  /// How late this rank notices what has happened, on average; taken off the latencies.
  Seconds noticed_late;

  Seconds latency(bool local_hop, std::size_t bytes) const;
};

/// One rank's end, carried by `inner`, which outlives it. A message is there for its receiver its latency after it has
/// arrived. A server handles the messages in flight one after the other: each is there, or leaves, no sooner than the
/// server has handled it. Costs no core: nobody spins, times are looked at by `test`.
std::unique_ptr<Transport> make_emulated_transport(Transport& inner, EmulatedCosts costs);

}  // namespace hbench
