#pragma once

/// The programs whose ranks have other libraries' all-reduces.

#include <filesystem>

#include "bench/collective/means.hpp"
#include "bench/collective/run.hpp"

namespace hbench {

/// Adds the peers that are here to `machine`, and their programs to `run`: of `hbench_peers` beside our own worker,
/// `run.programs[""]`, and of libraries whose ABI a worker has, in the folder that HBENCH_PEERS names. `mpich` is the
/// worker that was built with MPICH; empty: that of the preset `mpich`. What is not here is listed with the line that
/// installs it. \throws Error (usage) when `mpich` is no program, or HBENCH_PEERS no folder with one of the libraries.
void find_peers(const std::filesystem::path& mpich, CollectiveMachine& machine, RunOptions& run);

}  // namespace hbench
