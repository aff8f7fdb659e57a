#pragma once

#include "bench/hosts/host_options.hpp"
#include "collectives/base/error.hpp"

namespace hbench {

/// What `hbench doctor --hosts` was asked for.
struct HostDoctorOptions {
  HostOptions hosts;
  bool find_slow = false;  ///< measures them as well
  bool json = false;
  bool wide = false;
};

/// Compares hosts and prints what differs, the odd one out by name, and who is slow. `good` where nothing is wrong,
/// else `environment`. \throws Error (usage) where no hosts are given, or one alone is to be compared by its speed; as
/// `measure_speeds`.
ExitCode examine_hosts(const HostDoctorOptions& options);

}  // namespace hbench
