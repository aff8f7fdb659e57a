#pragma once

/// Which process a rank is. A number alone does not say: other hosts and containers use the same numbers, and this host
/// gives a number to another process when its owner has ended.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace hbench {

/// A process, once and for all. Equal identities are one process.
struct ProcessIdentity {
  pid_t pid = 0;
  /// The host's boot and its namespace of process numbers; empty where the host does not tell: then nothing is known.
  std::string host;
  std::int64_t start_time = 0;  ///< in the kernel's clock ticks since boot

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

/// How /proc has a process.
struct ProcessStatus {
  char state = '\0';  ///< `R` running, `S` asleep, `T` stopped, `Z` a zombie ...
  std::int64_t start_time = 0;
};

/// The place in which this process's numbers of processes mean something; empty where /proc does not tell.
const std::string& own_host_identity();

ProcessIdentity own_process();

/// What `/proc/PID/stat` says; nothing for a text that is none. Pure.
std::optional<ProcessStatus> parse_process_status(const std::string& stat);

/// Nothing when there is no process of this number here.
std::optional<ProcessStatus> process_status(pid_t pid);

/// Nothing for a process that has ended, whoever has its number now, and for one of another host.
std::optional<ProcessStatus> status_of(const ProcessIdentity& process);

}  // namespace hbench
