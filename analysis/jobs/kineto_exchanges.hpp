#pragma once

/// Which events of a trace are one collective: the program's call of it, and its run on a device or a thread.

#include <vector>

#include "analysis/jobs/kineto_events.hpp"

namespace hbench {

/// Leaves of the calls one for each collective, in the order of their begins, each with all that is known of it.
/// Returns the run of each call, null where it is not known; they point into `events.runs`. Runs that
/// nothing called become calls of their own, at the end.
std::vector<const KinetoEvents::Exchange*> runs_of_calls(KinetoEvents& events);

}  // namespace hbench
