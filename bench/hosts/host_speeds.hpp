#pragma once

#include <string>

#include "bench/hosts/slow_hosts.hpp"
#include "bench/launch/allocation.hpp"
#include "bench/launch/host.hpp"

namespace hbench {

/// Lets all hosts compute, and exchange bytes in pairs, in one job with a rank on each: some seconds. As many cores of
/// each host compute as the host with the fewest slots has. \param program hbench-worker, as hosts find it. \param
/// network as `Job::network`. \throws Error (environment) without a launcher, or that of the job where it fails.
HostSpeeds measure_speeds(const Allocation& allocation, const std::string& program, const std::string& network,
                          const Host& here);

}  // namespace hbench
