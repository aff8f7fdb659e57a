#pragma once

namespace hbench {

class Arguments;

/// How much of its work a verb shows on standard error; answers and errors are printed by all three.
enum class Verbosity {
  quiet,    ///< nothing
  usual,    ///< a live line on a terminal, elsewhere a line each ten seconds
  verbose,  ///< each piece of work on a line of its own, with the time since the start
};

/// Adds `-q,--quiet` and `-v,--verbose`, of which one may be given. `value` outlives the parsing.
void add_verbosity(Arguments& arguments, Verbosity& value);

}  // namespace hbench
