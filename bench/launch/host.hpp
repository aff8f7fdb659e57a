#pragma once

#include <cstdint>
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

}  // namespace hbench
