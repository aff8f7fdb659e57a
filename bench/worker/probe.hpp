#pragma once

#include "bench/worker/rank.hpp"
#include "bench/worker/speed_probe.hpp"

namespace hbench {

/// The rank of a host in `hbench doctor --hosts --find-slow`: what `hbench-worker worker` does with a probe's order.
/// The exit code; a rank that fails has said why.
ExitCode run_probe_worker(const ProbeOrder& order, const Say& say);

}  // namespace hbench
