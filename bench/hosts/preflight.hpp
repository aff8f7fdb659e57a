#pragma once

/// Hosts looked at before a job: whether they answer, agree and reach each other.

#include <array>
#include <map>
#include <string>
#include <vector>

#include "bench/command/arguments.hpp"
#include "bench/hosts/compare_hosts.hpp"
#include "bench/launch/allocation.hpp"
#include "bench/launch/host.hpp"

namespace hbench {

/// What people say of hosts.
struct HostOptions {
  HostFlags named;
  std::string network;  ///< as `Job::network`
};

/// `-H`, `--hostfile`, `--network-interface`, `--launcher` and `--expect-hosts`, of which the first two exclude each
/// other. `options` outlives `app`.
std::array<Option*, 5> add_host_options(Arguments& app, HostOptions& options);

/// The result of a preflight.
struct Preflight {
  std::vector<HostFacts> hosts;  ///< as in the allocation
  HostProblems problems;         ///< hosts that do not reach each other are obstacles as well
  std::string network;           ///< subnet between the hosts: `Job::network`
};

/// Asks all hosts at once (about a second), then lets each open a connection to each other (about another).
/// \param program hbench-worker, as hosts find it. \param network as the user gave it; empty: `common_network`.
/// \param train each of them for some tenths of a second as well, to compare their losses. \throws Error (environment)
/// without a launcher.
Preflight look_at_hosts(const Allocation& allocation, const std::string& program, const std::string& network,
                        const Host& here, bool train = false);

/// The one line for obstacles. \pre there are some
Error cannot_run(const Preflight& preflight);

/// \throws Error (environment) that names a host with more slots than its GPUs take, each `processes_per_gpu` ranks.
void require_gpus_for_slots(const Allocation& allocation, const std::vector<HostFacts>& hosts, int processes_per_gpu);

/// `Run::environment` of a run on these hosts: the facts of the first, with the names of all and the network between
/// them.
std::map<std::string, std::string> environment_of(const Preflight& preflight);

/// Hosts that no job can use now, with the reason: those that a job has lost.
std::vector<Finding> lost_hosts(const Allocation& allocation, const std::string& program, const std::string& network,
                                const Host& here);

}  // namespace hbench
