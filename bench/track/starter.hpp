#pragma once

/// The file that `hbench track init` writes: what this machine can measure in a few minutes.

#include <string>

#include "bench/sweep/request.hpp"
#include "bench/track/measured_command.hpp"

namespace hbench {

/// What the first file depends on.
struct StarterMachine {
  LocalMachine local;
  bool mpi = true;     ///< ranks can be processes here
  std::string branch;  ///< that is checked out; empty: not known
};

/// A program of a project, as it was typed.
struct StarterCommand {
  std::string run, build;  ///< a shell's; `build` may be empty
  PatternOptions pattern;

  /// `my_benchmark` of `./bin/my_benchmark --json`, `train.py` of `mpirun -n 4 python3 train.py`.
  std::string name() const;
};

/// The text of the file, with a comment for each choice. Pure.
std::string starter_file(const StarterMachine& machine);
/// The same for a program instead of what hbench itself can measure here.
std::string starter_file(const StarterCommand& command, const std::string& branch);

}  // namespace hbench
