#pragma once

#include <string>
#include <vector>

#include "bench/launch/process.hpp"

namespace hbench {

/// What a verb of hbench left, run in a process of its own, so that what it holds (GPU memory, say) goes with it.
struct VerbOutcome {
  Exit exit;
  std::string out;  ///< its standard output
};
VerbOutcome run_own_verb(const std::string& program, const std::vector<std::string>& arguments);

/// What such a child complained of, as if it were our own; `doing` begins the message. Its flags are ours: what it
/// takes for a mistake in them is something that the machine lacks, and an Error (environment). \pre it failed.
[[noreturn]] void throw_as_said(const Exit& exit, const std::string& doing);

}  // namespace hbench
