#pragma once

/// The folder in which Open MPI puts the memory that ranks of a host share; the launcher makes one for each job.

#include <array>
#include <memory>
#include <string_view>

#include "collectives/base/units.hpp"
#include "collectives/endpoints/endpoint.hpp"

namespace hbench {

/// A rank's ways to the others, by the name of an executor. Ranks ask in the same order.
class RankEndpoints {
 public:
  virtual ~RankEndpoints() = default;
  /// For messages between ranks: the plainest there is, in host memory.
  virtual Endpoint& home() = 0;
  virtual Endpoint& of(std::string_view executor) = 0;
};

/// Those of a process that is one rank, made when first asked for; MPI's is there from the beginning. Executors of
/// other libraries say what they have to say by MPI. With a `timeout`, a process whom MPI does not join to the others
/// ends by SIGALRM, some seconds after whoever started it gave it up: MPI itself would wait for a daemon that is cut
/// off for as long as TCP does, 15 minutes. \throws Error (environment) without MPI.
std::unique_ptr<RankEndpoints> make_process_endpoints(Seconds timeout = Seconds{0});

/// The variables that name it: of Open MPI 4 (vader) and 5 (sm), and of windows.
inline constexpr std::array kBackingFolderVariables{
    "OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory", "OMPI_MCA_osc_sm_backing_directory"};

/// Unsets those that name no folder of this host: a rank on another host than the launcher's takes the library's own,
/// and would share no memory otherwise. To be called before MPI is initialised and before there are threads.
void forget_absent_backing_folders();

}  // namespace hbench
