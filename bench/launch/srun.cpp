#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/launch/find_program.hpp"
#include "bench/launch/launcher.hpp"
#include "bench/worker/backing_folders.hpp"

namespace hbench {
namespace {

std::size_t hosts_among(std::vector<std::string> names) {
  std::ranges::sort(names);
  return static_cast<std::size_t>(std::ranges::unique(names).begin() - names.begin());
}

/// Open MPI of Debian and of most sites speaks PMIx. Hosts are asked at once, and a step may still be ending when the
/// next one begins: steps share what the job has. The environment is passed on as a whole.
std::vector<std::string> srun_argv(const Job& job) {
  std::vector<std::string> argv{"srun",
                                "--mpi=pmix",
                                "--overlap",
                                "--kill-on-bad-exit=1",
                                "--cpu-bind=none",
                                fmt::format("--ntasks={}", job.processes)};
  if (job.oversubscribed || !job.host_of_rank.empty()) argv.emplace_back("--overcommit");
  if (!job.host_of_rank.empty()) {
    argv.push_back(fmt::format("--nodes={}", hosts_among(job.host_of_rank)));
    argv.emplace_back("--distribution=arbitrary");
    // A host once for each of its ranks, in their order: what `n1*2` is taken for depends on Slurm's version.
    argv.push_back(fmt::format("--nodelist={}", fmt::join(job.host_of_rank, ",")));
  }
  if (!job.network.empty()) argv.insert(argv.end(), {"env", "OMPI_MCA_btl_tcp_if_include=" + job.network});
  argv.insert(argv.end(), job.worker.begin(), job.worker.end());
  return argv;
}

std::map<std::string, std::string> srun_environment(const JobPaths& paths) {
  std::map<std::string, std::string> variables;
  if (!paths.shared_memory.empty())
    for (const char* name : kBackingFolderVariables) variables.emplace(name, paths.shared_memory);
  return variables;
}

}  // namespace

extern const Launcher kSrunLauncher;
constinit const Launcher kSrunLauncher{
    .name = "srun",
    .summary = "Slurm's srun inside a job, for sites that forbid mpirun (--launcher srun)",
    .optional = true,
    .availability =
        [](std::string_view path) {
          return program_availability("srun", path, "run inside a Slurm job, or use --launcher mpirun");
        },
    .argv = srun_argv,
    .environment = srun_environment,
};

}  // namespace hbench
