#pragma once

/// How a rank waits for an operation.

#include <string_view>

#include "collectives/base/units.hpp"
#include "collectives/transport/operation.hpp"

namespace hbench {

/// At least this for what ranks do once, at their beginning: they build models and communicators at different speeds,
/// and servers build none.
inline constexpr Seconds kSetupTimeout{120};

/// Progresses `operation` until it is complete. Spins briefly, then yields, then sleeps, so that
/// ranks that share a core do not starve each other.
/// \throws Error (lost_rank) after `timeout`: `<what>: waited 60 s for rank 3 in round 2 of 6`.
void wait_for(Operation& operation, Seconds timeout, std::string_view what);

}  // namespace hbench
