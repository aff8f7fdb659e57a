#pragma once

/// A question to hosts: a program that each of them runs, and what it writes.

#include <map>
#include <string>
#include <vector>

#include "bench/launch/allocation.hpp"
#include "bench/launch/host.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

/// What a program on one host wrote, started there by the launcher of ranks: what hinders that hinders a job as well.
struct HostAnswer {
  std::string host;                ///< as the allocation names it; empty: this machine, without a name
  std::string failure;             ///< why there is no answer, in a line; empty where there is one
  std::vector<std::string> lines;  ///< of its standard output
  double at = 0;                   ///< seconds since 1970, when the last line came

  /// The first line that is a JSON object: others are a library's warnings. Null where there is none.
  const std::string* json_line() const;
};

/// How hosts are asked.
struct HostQuestion {
  std::vector<std::string> program;  ///< with its arguments, as hosts find it
  std::string network;               ///< as `Job::network`
  Seconds timeout{15};               ///< of silence
  std::map<std::string, std::string> environment = {};
};

/// Starts one process on each host, all at once, and waits for all; on this machine alone where the allocation is
/// local. In the order of the hosts. \throws Error (environment) when the launcher is missing.
std::vector<HostAnswer> ask_hosts(const Allocation& allocation, const HostQuestion& question, const Host& here);

}  // namespace hbench
