#pragma once

#include <string>

namespace hbench {

/// Cores this process may use.
int available_cores();

/// What starting ranks here depends on.
struct Host {
  int cores = 1;
  bool as_root = false;
  std::string path;  ///< the PATH variable; empty where there is none
};
Host this_host();

}  // namespace hbench
