#pragma once

/// How a long simulation hears that somebody wants it to end.

#include <functional>

namespace hbench {

/// Whether a stop was requested (with Ctrl-C, say). Asked on the simulating thread, often; empty: never.
using StopRequested = std::function<bool()>;

/// \throws Error (interrupted) when a stop was requested.
void stop_if(const StopRequested& requested);

}  // namespace hbench
