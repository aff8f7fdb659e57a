#pragma once

/// Child processes: the one file that spawns.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/worker/process_identity.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

/// The exit code of a program that there is not, as shells have it.
inline constexpr int kNoProgram = 127;

/// How a child ended.
struct Exit {
  int code = 0;              ///< exit status; 128 + signal when a signal ended it; or `kNoProgram`
  bool timed_out = false;    ///< stopped because it wrote nothing for too long, or took too long
  bool too_much = false;     ///< stopped because it wrote more to standard output than it may
  bool interrupted = false;  ///< stopped because of Ctrl-C
  std::string error_head;    ///< what its standard error began with and the tail lacks: at most 4 KiB
  std::string error_tail;    ///< the last 4 KiB of its standard error
};

/// What to start, and what to do with what it writes.
struct Spawn {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;      ///< added to ours; the program is found by its PATH
  std::function<void(std::string_view line)> on_line;  ///< each line of standard output, without its end
  std::string input;                                   ///< fed to standard input
  Seconds output_timeout{0};                           ///< stop it after this long without output; 0: never
  Seconds time_limit{0};                               ///< stop it after this long, whatever it writes; 0: never
  std::size_t most_output = 0;                         ///< bytes of standard output, then stop it; 0: any
  std::function<void()> on_timeout = {};               ///< before it is stopped for a time-out
  bool despite_interrupts = false;                     ///< what cleans up goes on after Ctrl-C
  bool group_ends_with_us = false;                     ///< where this process is killed, by a process that watches it
};

/// Runs a child to its end. On a time-out and on Ctrl-C it stops the child's process group, by SIGTERM and then by
/// SIGKILL, and then what the child has started in other groups; nothing of its group outlives the call. If this
/// process dies, the child gets SIGTERM. Safe in a program of many threads. \throws Error (environment) when no process
/// can be started.
Exit run_process(const Spawn& spawn);

/// From now on Ctrl-C (and SIGTERM, and SIGHUP where nohup does not ignore it) only sets a flag: `interrupted()`.
void catch_interrupts();
bool interrupted();

/// Sends SIGKILL to a process that runs on this host; whoever else has its number is left alone, here and elsewhere.
void kill_process(const ProcessIdentity& process);

}  // namespace hbench
