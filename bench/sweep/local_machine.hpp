#pragma once

#include "bench/sweep/plan.hpp"

namespace hbench {

/// What this machine can measure, with at most `oversubscribe` ranks; 0: as many as there are cores, or GPUs, or as the
/// hosts of `allocation` have slots.
LocalMachine local_machine(int oversubscribe, Allocation allocation = {});
/// The same for who measures nothing: no driver is asked for GPUs, which takes a moment.
LocalMachine machine_at_rest();

}  // namespace hbench
