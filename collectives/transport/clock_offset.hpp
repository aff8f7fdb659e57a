#pragma once

#include <functional>

#include "collectives/base/units.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// How far this rank's clock is ahead of rank 0's: clocks that count since a host was started differ by days. By a few
/// messages there and back, of which the quickest counts (Cristian, Probabilistic clock synchronization, 1989): off by
/// at most half of its time, some microseconds in a host and some tens between two. All ranks call it; 0 on rank 0.
/// \param now this rank's clock. \throws Error (lost_rank) when a rank does not answer within `timeout`.
Seconds clock_ahead_of_first(Transport& transport, const std::function<Seconds()>& now, Seconds timeout);

}  // namespace hbench
