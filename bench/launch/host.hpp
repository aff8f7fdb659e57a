#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace hbench {

/// Cores this process may use.
int available_cores();

/// What starting ranks here depends on.
struct Host {
  int cores = 1;
  bool as_root = false;
  std::string path;                       ///< the PATH variable; empty where there is none
  std::uint64_t open_files = UINT64_MAX;  ///< that a process may have at once
};
Host this_host();

/// Bytes that a process can still take: what Linux calls available (`/proc/meminfo`), or what is left of the limits of
/// its control group (versions 1 and 2), whichever is less. Reads below `root`, so that tests can bring a machine of
/// their own. INT64_MAX where nothing is known.
std::int64_t available_memory(const std::filesystem::path& root = "/");

}  // namespace hbench
