#pragma once

/// One launch of a side of `hbench track pair`: a shell's command and what it prints, or an experiment file of hbench.

#include <map>
#include <string>
#include <vector>

#include "analysis/records.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

struct PairCommand {
  std::string side;  ///< `base` or `head`: what its flag is called
  std::string text;  ///< for `sh -c`; or a file that ends with .toml, as `hbench track run --file` takes it
};

/// How one launch of a command ended.
struct CommandLaunch {
  std::vector<CaseResult> cases = {};                   ///< launch 0 of each; empty where it failed
  std::map<std::string, std::string> environment = {};  ///< facts that its output tells
  ExitCode code = ExitCode::good;
  std::string reason = {};  ///< why it failed, in one sentence
  std::string said = {};    ///< the last lines that it wrote where it failed, or what to do about it
};

/// Runs the command in a process group of its own, of which nothing outlives the call; stops it when it prints nothing
/// for `timeout`, and on Ctrl-C (`interrupted()`: then the launch means nothing). What it prints is read by the first
/// of `import_formats()` that recognises it. A command that is not found, and output that no format understands, are
/// failures with the code `usage`. Of an experiment file every case is launched once.
CommandLaunch launch_command(const PairCommand& command, Seconds timeout);

}  // namespace hbench
