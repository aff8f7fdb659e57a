#include <string>

#include "bench/launch/find_program.hpp"
#include "bench/launch/launcher.hpp"
#include "bench/worker/backing_folders.hpp"

namespace hbench {
namespace {

std::vector<std::string> mpirun_argv(const Job& job) {
  // Workers choose their cores themselves, the same way with and without a launcher.
  std::vector<std::string> argv{"mpirun", "-n", std::to_string(job.processes), "--bind-to", "none"};
  if (job.oversubscribed) argv.push_back("--oversubscribe");
  // Open MPI refuses root unless told; a container's only user is often root.
  if (job.as_root) argv.push_back("--allow-run-as-root");
  argv.insert(argv.end(), job.worker.begin(), job.worker.end());
  return argv;
}

/// Both for Open MPI 4 (vader) and 5 (sm), which ignore what they do not know. Session folders follow TMPDIR.
std::map<std::string, std::string> mpirun_environment(const JobPaths& paths) {
  std::map<std::string, std::string> variables{{"TMPDIR", paths.temporary}};
  if (!paths.shared_memory.empty())
    for (const char* name : kBackingFolderVariables) variables.emplace(name, paths.shared_memory);
  return variables;
}

}  // namespace

extern const Launcher kMpirunLauncher;
constinit const Launcher kMpirunLauncher{
    .name = "mpirun",
    .summary = "Open MPI's mpirun on this host",
    .availability =
        [](std::string_view path) {
          if (on_path("mpirun", path)) return Availability{};
          return Availability{false, "mpirun is not on the PATH", "install Open MPI (Debian: openmpi-bin)"};
        },
    .argv = mpirun_argv,
    // Open MPI 4.1.4 needs 36 for 2 ranks, 64 for 8 and 100 for 16; with fewer it hangs or crashes.
    .open_files = [](int processes) { return 32 + 5 * processes; },
    .environment = mpirun_environment,
};

}  // namespace hbench
