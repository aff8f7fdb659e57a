#include "bench/collective/machine.hpp"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>

#include "bench/doctor/available_memory.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/launcher.hpp"
#include "bench/launch/process.hpp"
#include "collectives/base/table.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

/// `gloo ring-chunked`, one a line: what `hbench_peers peers` prints.
std::vector<KnownPeer> peers_of(const fs::path& program) {
  std::vector<KnownPeer> peers;
  Spawn spawn;
  spawn.argv = {program.string(), "peers"};
  spawn.output_timeout = Seconds(10);
  spawn.on_line = [&](std::string_view line) {
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos)
      peers.push_back({std::string(line.substr(0, space)), std::string(line.substr(space + 1))});
  };
  if (run_process(spawn).code != 0) peers.clear();
  return peers;
}

void find_peers(const fs::path& own, CollectiveSetup& setup) {
  const fs::path program = own.parent_path() / "hbench_peers";
  if (is_program(program)) setup.machine.peers = peers_of(program);
  if (setup.machine.peers.empty())
    setup.machine.absent_peers.push_back(
        "Gloo is not available: install libgloo-dev (Debian), configure again and build the target hbench_peers");
  setup.run.programs[ProcessSet::Program::peers] = program.string();
}

void find_mpich(const fs::path& own, const fs::path& asked, CollectiveSetup& setup) {
  // build/<preset>/libexec/hbench/hbench-worker: its neighbour of the preset mpich.
  const fs::path builds = own.parent_path().parent_path().parent_path().parent_path();
  const fs::path program = asked.empty() ? builds / "mpich/libexec/hbench/hbench-worker" : fs::absolute(asked);
  if (!asked.empty() && !is_program(program))
    throw Error(ExitCode::usage, fmt::format("--mpich {}: there is no such program", asked.string()),
                "build it: cmake --preset mpich && ninja -C build/mpich hbench-worker");
  const Launcher& launcher = find_entry(launchers(), "mpich", "launcher");
  const Availability there = launcher.availability(setup.run.host.path);
  setup.machine.mpich = is_program(program) && there.available;
  setup.run.programs[ProcessSet::Program::mpich] = program.string();
  if (setup.machine.mpich) return;
  setup.machine.absent_peers.push_back(
      there.available
          ? "MPICH's build is not available: cmake --preset mpich && ninja -C build/mpich hbench-worker"
          : "MPICH is not available: install mpich and libmpich-dev (Debian), then cmake --preset mpich && ninja -C "
            "build/mpich hbench-worker");
}

}  // namespace

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
  const fs::path& own = installation().worker;
  setup.run.programs[ProcessSet::Program::own] = own.string();
  if (!options.request.peers) return setup;
  find_peers(own, setup);
  find_mpich(own, options.mpich, setup);
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
