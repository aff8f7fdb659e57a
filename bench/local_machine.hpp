#pragma once

#include "bench/plan.hpp"

namespace hbench {

/// What this machine can measure, with at most `oversubscribe` ranks; 0: as many as there are cores, or GPUs.
LocalMachine local_machine(int oversubscribe);

}  // namespace hbench
