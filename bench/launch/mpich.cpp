#include <string>

#include "bench/launch/find_program.hpp"
#include "bench/launch/launcher.hpp"

namespace hbench {
namespace {

constexpr const char* kProgram = "mpirun.mpich";

std::vector<std::string> mpich_argv(const Job& job) {
  // Hydra starts more ranks than cores, and root's, without being asked.
  std::vector<std::string> argv{kProgram, "-n", std::to_string(job.processes), "-bind-to", "none"};
  argv.insert(argv.end(), job.worker.begin(), job.worker.end());
  return argv;
}

}  // namespace

extern const Launcher kMpichLauncher;
constinit const Launcher kMpichLauncher{
    .name = "mpich",
    .summary = "MPICH's mpirun on this host, for the peer of hbench collective --peers",
    .optional = true,
    .availability =
        [](std::string_view path) { return program_availability(kProgram, path, "install MPICH (Debian: mpich)"); },
    .argv = mpich_argv,
};

}  // namespace hbench
