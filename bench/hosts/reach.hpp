#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench {

/// Opens a TCP connection to each other host, and takes theirs, on a high port as the ranks of a job do: a firewall
/// between two hosts, or a name that means another machine, shows before a job hangs. All hosts call it at about the
/// same time with the same `token`, which also says which ports. Returns those of `others` that were not reached within
/// `patience`; keeps listening as long, or until all others have come.
std::vector<std::string> unreached_hosts(const std::vector<std::string>& others, std::uint64_t token, Seconds patience);

/// `{"unreached": ["n3"]}`, in one line.
std::string unreached_json(const std::vector<std::string>& hosts);

}  // namespace hbench
