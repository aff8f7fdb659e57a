#pragma once

#include "analysis/prediction/means.hpp"
#include "bench/hosts/compare_hosts.hpp"
#include "bench/output/console.hpp"
#include "bench/sweep/request.hpp"

namespace hbench {

/// What this machine can measure, with at most `oversubscribe` ranks; 0: as many as there are cores, or GPUs, or as the
/// hosts of `allocation` have slots.
LocalMachine local_machine(int oversubscribe, Allocation allocation = {});
/// What the hosts of `here.allocation` can measure, each as it says of itself: what all have, and why one has not.
LocalMachine machine_of_hosts(LocalMachine here, const std::vector<HostFacts>& hosts);
/// What those hosts can measure where nobody has asked them: as this machine, and with GPUs where the request is for
/// those.
LocalMachine machine_before_answers(LocalMachine here, const SweepRequest& request);
/// Returns the same for a caller that measures nothing: no driver is asked for GPUs, which takes time.
LocalMachine machine_at_rest();

/// What simulations may take here; Ctrl-C stops them, and `progress`, which outlives them, shows how far they are.
SimulationMeans simulation_means(Progress& progress);

}  // namespace hbench
