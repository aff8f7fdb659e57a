#pragma once

/// The hosts that a person or an engine gives to ranks. An engine supplies an allocation; the launcher stays mpirun (or
/// srun). Pure, but for reading the host file.

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "bench/launch/host_list.hpp"

namespace hbench {

/// What the flags say of hosts; empty where they are not given.
struct HostFlags {
  std::string hosts;                ///< `-H`
  std::filesystem::path hostfile;   ///< `--hostfile`
  std::string launcher = "mpirun";  ///< `--launcher`
};

/// The hosts of the flags, else those of the job of Slurm, LSF, PBS or Cobalt in which we are, or of Open MPI's own
/// variable for a default host file, else this machine alone. One host of a job that is this machine is no allocation.
/// \param variable gives an environment variable, null where there is none. \throws Error (usage).
Allocation allocation_of(
    const HostFlags& flags,
    const std::function<const char*(const char* name)>& variable = [](const char* name) { return std::getenv(name); });

}  // namespace hbench
