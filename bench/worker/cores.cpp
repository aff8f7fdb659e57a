#include "bench/worker/cores.hpp"

#include <sched.h>

#include <array>
#include <cstdlib>

#include "collectives/base/text.hpp"
#include "collectives/transport/host_place.hpp"

namespace hbench {
namespace {

/// The innermost launcher first: a job's script has Slurm's variables, and what it starts inherits them.
constexpr std::array kLocalRanks{"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"};

}  // namespace

std::optional<int> launched_local_rank(const std::function<const char*(const char*)>& variable) {
  for (const char* name : kLocalRanks) {
    const char* value = variable(name);
    if (value == nullptr) continue;
    if (const int rank = parse_number<int>(value).value_or(-1); rank >= 0) return rank;
  }
  return std::nullopt;
}

int core_of(int local_rank, std::span<const int> cores) {
  return cores[static_cast<std::size_t>(local_rank) % cores.size()];
}

std::vector<int> allowed_cores() {
  std::vector<int> cores;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cores.push_back(cpu);
  return cores;
}

void pin_to_core(int local_rank) {
  const std::vector<int> cores = allowed_cores();
  if (cores.empty()) return;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  CPU_SET(core_of(local_rank, cores), &chosen);
  sched_setaffinity(0, sizeof chosen, &chosen);
}

void pin_process(Endpoint& endpoint, Seconds timeout) {
  const std::optional<int> launched = launched_local_rank([](const char* name) { return std::getenv(name); });
  pin_to_core(launched ? *launched : find_host_place(endpoint.control(), timeout).rank);
}

}  // namespace hbench
