#pragma once

/// The transports that NCCL really uses between GPUs, from its own log.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"

namespace hbench {

/// Connections by transport: `P2P/CUMEM`, `SHM/direct/direct`, `NET/IB/GDRDMA`, `NET/Socket`, `COLLNET/...`, `NVLS`.
/// Of lines as NCCL_DEBUG=INFO prints them when it connects (NCCL 2.4 to 2.30), `... -> 1[1] via P2P/CUMEM`, without
/// the numbers of cards and ranks. One that both ends announce counts once. NVLS counts once for each rank that joins.
/// Which of its connections a collective takes, NCCL decides by size. Pure.
std::map<std::string, int> observed_transports(std::string_view log);

/// A private folder in which the processes of one start write such logs; gone with the object.
class NcclLog {
 public:
  /// \param wanted there are ranks that use NCCL
  /// \param variable the value of NCCL_DEBUG, null where it is not set: what a user asked NCCL to say is left alone,
  ///        and nothing is observed.
  NcclLog(bool wanted, const char* variable);
  ~NcclLog();
  NcclLog(const NcclLog&) = delete;
  NcclLog& operator=(const NcclLog&) = delete;

  /// Variables for these processes: for the log, and so that ranks may share a GPU where NCCL lets them.
  std::map<std::string, std::string> environment() const;
  /// Of all processes so far; NCCL writes line by line.
  std::map<std::string, int> transports() const;

 private:
  bool wanted_;
  std::filesystem::path folder_;  ///< empty: nothing is observed
};

/// Whether ranks of this case use NCCL.
bool uses_nccl(const Case& asked);

/// The same as samples of a case (`analysis/points/collectives.hpp`).
std::vector<Sample> transport_samples(const std::map<std::string, int>& transports, int launch);

}  // namespace hbench
