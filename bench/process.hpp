#pragma once

/// Child processes: the one file that spawns.

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench {

/// How a child ended.
struct Exit {
  int code = 0;              ///< exit status; 128 + signal when a signal ended it; 127 when there is no such program
  bool silent = false;       ///< stopped because it said nothing for too long
  bool interrupted = false;  ///< stopped because of Ctrl-C
  std::string error_tail;    ///< the end of its standard error
};

/// What to start, and what to do with what it says.
struct Spawn {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;      ///< added to ours
  std::function<void(std::string_view line)> on_line;  ///< each line of standard output, without its end
  std::string input;                                   ///< fed to standard input
  Seconds silence{0};                                  ///< stop it after this long without output; 0: never
  std::function<void()> on_silence = {};               ///< before it is stopped for that
};

/// Runs a child to its end. Stops it, politely and then by force, with everything it started in its process
/// group, on silence or Ctrl-C; nothing of that group outlives it. If this process dies the child is told to end
/// too.
Exit run_process(const Spawn& spawn);

/// From now on Ctrl-C (and SIGTERM) only sets a flag: `interrupted()`.
void catch_interrupts();
bool interrupted();

/// How /proc has a process: `R` running, `S` asleep, `T` stopped, `Z` dead and not yet missed ...; 0 when it is gone.
char process_state(pid_t pid);

/// Kills what is left of processes known by number, on this host; those that are gone are ignored.
void kill_processes(const std::vector<pid_t>& pids);

}  // namespace hbench
