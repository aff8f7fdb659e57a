#pragma once

/// What a host says of itself and of the hosts that it reaches, so that hosts can be compared before anything is timed
/// on them.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/doctor/environment.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

/// An address of a network interface.
struct HostAddress {
  std::string interface;    ///< `eth0`
  std::string subnet;       ///< IPv4, `10.0.0.0/24`
  int mtu = 0;              ///< bytes
  int speed = 0;            ///< Mbit/s as the driver says; 0: it does not
  std::int64_t errors = 0;  ///< in frames sent and received, since the system was started

  friend bool operator==(const HostAddress&, const HostAddress&) = default;
};

struct HostFacts {
  std::string name;                          ///< its own, or of a host that was asked the one by which it was
  std::string failure;                       ///< why it did not answer, and the rest is empty; else empty
  std::map<std::string, std::string> facts;  ///< `Run::environment` of a run there, and those of `host_fact`
  std::vector<HostAddress> addresses;        ///< of interfaces that are up, but loopback
  double clock = 0;                          ///< seconds since 1970, when this was written
  double clock_off = 0;                      ///< seconds that it is ahead of ours, to about a tenth
  TrainingMeans training;                    ///< of a sweep there
};

/// Names in `HostFacts::facts` beside those of `environment_facts`.
namespace host_fact {
inline constexpr std::string_view kProgram = "hbench";          ///< version and digest of hbench-worker
inline constexpr std::string_view kMachine = "machine";         ///< its own name, boot and process numbers
inline constexpr std::string_view kGovernor = "governor";       ///< of the first core's frequency
inline constexpr std::string_view kFreeMemory = "free memory";  ///< MiB
inline constexpr std::string_view kFreeShared = "free shm";     ///< MiB of /dev/shm
inline constexpr std::string_view kFreeTemporary = "free tmp";  ///< MiB of the folder for temporary files
inline constexpr std::string_view kLosses = "losses";       ///< `loss_fingerprint`, of hosts that were asked to train
inline constexpr std::string_view kGpuUsers = "gpu users";  ///< processes that compute on its GPUs, where it has any
}  // namespace host_fact

/// Of this host. Asks the driver where there are GPUs.
HostFacts own_host_facts();

/// One line.
std::string to_json(const HostFacts& facts);
/// \throws Error (internal) for what `to_json` does not write.
HostFacts parse_host_facts(std::string_view json);

/// Opens a TCP connection to each other host, and takes theirs, on a high port as the ranks of a job do: a firewall
/// between two hosts, or a name that means another machine, shows before a job hangs. All hosts call it at about the
/// same time with the same `token`, which also says which ports. Returns those of `others` that were not reached within
/// `patience`; keeps listening as long, or until all others have come.
std::vector<std::string> unreached_hosts(const std::vector<std::string>& others, std::uint64_t token, Seconds patience);

/// `{"unreached": ["n3"]}`, in one line.
std::string unreached_json(const std::vector<std::string>& hosts);

}  // namespace hbench
