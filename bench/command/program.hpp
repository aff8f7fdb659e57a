#pragma once

/// What `hbench` and `hbench-worker` have in common: a verb is looked up and run, and an `Error` becomes one line and
/// an exit code.

#include <span>

#include "bench/command/verb.hpp"

namespace hbench {

/// `leave` is called before a verb that cannot be run in this program (`Verb::needs_libraries`); null: all can be.
/// The exit code of the program; whatever is wrong has been said on standard error.
int run_program(int argc, char** argv, std::span<const Verb* const> verbs, void (*leave)(char** argv) = nullptr);

}  // namespace hbench
