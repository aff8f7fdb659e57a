#pragma once

/// The hosts of the job in which hbench is started, as its engine's variables say them. Pure, but for reading the
/// files that they name.

#include <functional>
#include <string>

#include "bench/launch/host_list.hpp"

namespace hbench {

/// Gives an environment variable, null where there is none.
using ReadVariable = std::function<const char*(const char* name)>;

/// The hosts of the job around us: of Slurm, LSF, PBS, Cobalt, Grid Engine, Flux, SkyPilot, SageMaker, dstack or Azure
/// Batch, or of Open MPI's own variables for a default host file (of ORTE and, since Open MPI 5, of PRRTE); none where
/// there is no job, or one that names no other hosts. A note says which hosts of the job are not used. \throws Error
/// (environment) for a file of hosts that cannot be read, Error (usage) for a list that is none.
Allocation surrounding_job(const ReadVariable& variable, const std::function<std::string()>& ask_flux);

/// The names of the variables that `surrounding_job` takes hosts from, in words.
std::string variables_with_hosts();

}  // namespace hbench
