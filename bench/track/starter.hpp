#pragma once

/// The file that `hbench track init` writes: what this machine can measure in a few minutes.

#include <string>

#include "bench/sweep/plan.hpp"

namespace hbench {

/// What the first file depends on.
struct StarterMachine {
  LocalMachine local;
  bool mpi = true;     ///< ranks can be processes here
  std::string branch;  ///< that is checked out; empty: not known
};

/// The text of the file, with a comment for each choice. Pure.
std::string starter_file(const StarterMachine& machine);

}  // namespace hbench
