#pragma once

#include <cstdint>
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

/// Whose mistake it is when a child refuses its arguments: where they are ours, it is something that the machine lacks.
enum class ArgumentsOf : std::uint8_t { program, user };
/// What such a child complained of, as if it were our own; `doing` begins the message. What it takes for a mistake in
/// its arguments is an Error (environment), or of the user's (usage) and passed on as it is. \pre it failed.
[[noreturn]] void throw_as_said(const Exit& exit, const std::string& doing, ArgumentsOf whose = ArgumentsOf::program);

}  // namespace hbench
