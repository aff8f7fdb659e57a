#pragma once

#include "bench/hosts/host_options.hpp"
#include "collectives/base/error.hpp"

namespace hbench {

/// What `hbench doctor --hosts` was asked for.
struct HostDoctorOptions {
  HostOptions hosts;
  bool json = false;
  bool wide = false;
};

/// Compares hosts and prints what differs, the odd one out by name. `good` where nothing is wrong, else `environment`.
/// \throws Error (usage) where no hosts are given.
ExitCode examine_hosts(const HostDoctorOptions& options);

}  // namespace hbench
