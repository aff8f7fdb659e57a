#include <string>

#include "bench/launch/find_program.hpp"
#include "bench/launch/launcher.hpp"

namespace hbench {
namespace {

constexpr const char* kProgram = "mpiexec.hydra";

std::vector<std::string> mpich_argv(const Job& job) {
  // Hydra starts more ranks than cores, and root's, without being asked. Where it cannot resolve this host's name,
  // Intel MPI's would make a job of each rank, were its address not given.
  std::vector<std::string> argv{kProgram,   "-iface", "lo", "-hosts", "127.0.0.1", "-n", std::to_string(job.processes),
                                "-bind-to", "none"};
  argv.insert(argv.end(), job.worker.begin(), job.worker.end());
  return argv;
}

}  // namespace

extern const Launcher kMpichLauncher;
constinit const Launcher kMpichLauncher{
    .name = "mpich",
    .summary = "Hydra of MPICH and Intel MPI on this host, for peers of hbench collective --peers",
    .optional = true,
    .availability =
        [](std::string_view path) { return program_availability(kProgram, path, "install MPICH (Debian: mpich)"); },
    .argv = mpich_argv,
};

}  // namespace hbench
