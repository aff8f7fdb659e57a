#include "bench/command/verbosity.hpp"

#include "bench/command/arguments.hpp"

namespace hbench {

void add_verbosity(Arguments& arguments, Verbosity& value) {
  Option* quiet = arguments.add_flag_callback(
      "-q,--quiet", [&value] { value = Verbosity::quiet; }, "no progress");
  arguments
      .add_flag_callback(
          "-v,--verbose", [&value] { value = Verbosity::verbose; },
          "each piece of work on a line, with the seconds since the start")
      ->excludes(quiet);
}

}  // namespace hbench
