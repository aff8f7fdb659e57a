#include "bench/collective/machine.hpp"

#include <sys/sysinfo.h>

#include <algorithm>

#include "bench/collective/peer_programs.hpp"
#include "bench/doctor/available_memory.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/launcher.hpp"
#include "collectives/base/table.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {
CollectiveSetup look_for_programs(const CollectiveOptions& options) {
  CollectiveSetup setup;
  setup.machine.cores = setup.run.host.cores;
  setup.machine.emulated = emulated_network();
  struct sysinfo memory {};
  if (sysinfo(&memory) == 0) setup.machine.memory = static_cast<std::int64_t>(memory.totalram) * memory.mem_unit;
  Availability mpi = mpi_availability();
  if (mpi.available) mpi = find_entry(launchers(), "mpirun", "launcher").availability(setup.run.host.path);
  if (!mpi.available) setup.machine.no_mpi = mpi.in_words();
  // Only those that are asked for: a GPU's driver takes its time to answer.
  for (const ExecutorKind* kind : executors()) {
    if (!kind->ranks_are_threads() ||
        std::ranges::find(options.request.executors, kind->name) == options.request.executors.end())
      continue;
    if (const Availability there = kind->availability(); !there.available)
      setup.machine.absent[std::string(kind->name)] = there.in_words();
  }
  setup.run.programs[""] = {.path = installation().worker.string()};
  if (options.request.peers) find_peers(options.mpich, setup.machine, setup.run);
  return setup;
}

CollectiveSetup look_for_clusters(const CollectiveRequest& request) {
  CollectiveSetup setup;
  const Data data = load_data();
  for (const std::string& name : request.profiles) setup.machine.clusters.push_back(data.profiles.load(name));
  setup.machine.memory = available_memory();
  return setup;
}

}  // namespace hbench
