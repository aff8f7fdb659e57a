#pragma once

/// The hosts that a person or an engine gives to ranks. An engine supplies an allocation; the launcher stays mpirun (or
/// srun). Also those of the job in which hbench is started, as its engine's variables say them. Pure, but for reading
/// files of hosts.

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/launch/host_list.hpp"

namespace hbench {

/// Gives an environment variable, null where there is none.
using ReadVariable = std::function<const char*(const char* name)>;

inline constexpr const char* kExpectHostsFlag = "--expect-hosts";

/// What the flags say of hosts; empty where they are not given.
struct HostFlags {
  std::string hosts;                ///< `-H`
  std::filesystem::path hostfile;   ///< `--hostfile`
  std::string launcher = "mpirun";  ///< `--launcher`
  int expected = 0;                 ///< `--expect-hosts`: fewer are an error
};

/// Returns the hosts of the Flux job around this process, as `flux hostlist` prints them with commas; empty where it
/// does not answer.
std::string flux_hosts();

/// The hosts of the flags, else those of the job around us (`surrounding_job`), else this machine alone. One host of a
/// job that is this machine is no allocation. \throws Error (usage); Error (environment) for a job's file of hosts that
/// cannot be read, and for fewer hosts than are expected, so that a job whose list of hosts got lost does not measure
/// one host and end well (kubeflow/trainer issue 4028).
Allocation allocation_of(
    const HostFlags& flags, const ReadVariable& variable = [](const char* name) { return std::getenv(name); },
    const std::function<std::string()>& ask_flux = flux_hosts);

/// Names a host of the job with fewer slots than `gpus`, as a rank takes a GPU, and the cure; empty where there is
/// none.
std::string note_of_idle_gpus(const Allocation& job, int gpus);

/// The ranks of a job: workers first, then dedicated servers.
struct RankCount {
  int workers = 1;
  int nodes = 1;  ///< on which the workers are, equally many on each
  int servers = 0;
};

/// Where the ranks of a job are.
struct RankPlaces {
  std::vector<std::string> host_of_rank;  ///< by rank; empty: this machine
  std::string refusal;                    ///< why there is no place for them; empty where there is
};

/// Places workers in blocks of consecutive ranks, on the first hosts that have slots for their share; servers in turn
/// on the same hosts. Pure.
RankPlaces place_ranks(const Allocation& allocation, const RankCount& ranks);

/// Returns the fewest nodes of the allocation on which `workers` workers, equally many on each, have slots; 0 where
/// they have none. \pre the allocation is not local.
int fewest_nodes(const Allocation& allocation, int workers);

}  // namespace hbench
