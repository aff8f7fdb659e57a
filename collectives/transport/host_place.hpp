#pragma once

/// Which ranks of a job are on one host, found out by messages.

#include <functional>
#include <span>

#include "collectives/base/units.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

struct HostPlace {
  int rank = 0;   ///< this rank's number among those of its host
  int hosts = 1;  ///< of the job
  int most = 1;   ///< ranks on the host that has most of them
};

/// Hosts differ by their names. All ranks call it. \throws Error (lost_rank) when one does not within
/// `timeout`.
HostPlace find_host_place(Transport& transport, Seconds timeout);

/// Gives every rank what rank 0 has, by messages on `transport`. All ranks call it. \throws as above.
void share_from_first(Transport& transport, std::span<std::byte> message, Seconds timeout);

/// How far this rank's clock is ahead of rank 0's: clocks that count since a host was started differ by days. By a few
/// messages there and back, of which the quickest counts (Cristian, Probabilistic clock synchronization, 1989): off by
/// at most half of its time, some microseconds in a host and some tens between two. All ranks call it; 0 on rank 0.
/// \param now this rank's clock. \throws Error (lost_rank) when a rank does not answer within `timeout`.
Seconds clock_ahead_of_first(Transport& transport, const std::function<Seconds()>& now, Seconds timeout);

}  // namespace hbench
