#pragma once

/// A `[[command]]` of `hbench.toml`: a program of the project, how it is built, and how what it prints is read.

#include <optional>
#include <string>

#include "bench/track/experiment.hpp"
#include "bench/track/measured_command.hpp"
#include "bench/track/project.hpp"

namespace hbench {

struct TrackedCommand {
  std::string name;            ///< of the entry; stands before the names of what the program prints
  MeasuredCommand build, run;  ///< `build` may be empty
  PatternOptions pattern;      ///< as `run` has it
  Seconds timeout{600};        ///< of a launch, and of a build without output
};

/// None where help was asked for. \throws Error (usage).
std::optional<TrackedCommand> parse_tracked_command(const ExperimentCall& call);

/// Returns the command that a case of this name is of; none where the project has none, or several that may be it.
/// \throws Error (usage) with the line of the file.
std::optional<TrackedCommand> command_of(const Project& project, const std::string& case_name);

}  // namespace hbench
