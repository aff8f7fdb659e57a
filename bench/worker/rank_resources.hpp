#pragma once

/// What a rank has of its process and host: the core on which it runs (a rank stands for a GPU, and does not grow when
/// it is alone), its endpoints, and the folder in which Open MPI puts the memory that ranks of a host share.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/base/units.hpp"
#include "collectives/endpoints/endpoint.hpp"

namespace hbench {

/// A rank's number among those of its host, as its launcher says (Open MPI, MPICH and Intel MPI, PMI, Slurm); nothing
/// where it does not. `variable` gives the value of an environment variable, null where there is none. Pure.
std::optional<int> launched_local_rank(const std::function<const char*(const char* name)>& variable);

/// The core for a rank: those that it may use are shared out in turn. Pure. \pre `cores` is not empty.
int core_of(int local_rank, std::span<const int> cores);

/// Cores that the calling thread may use; empty where the system does not tell.
std::vector<int> allowed_cores();

/// Binds the calling thread, and threads that it will start, to the core of `local_rank` among those that it may use.
void pin_to_core(int local_rank);

/// The same for a rank of a job of processes, whose number is the launcher's or found by asking the others: all ranks
/// call it. \throws Error (lost_rank) when one does not within `timeout`.
void pin_process(Endpoint& endpoint, Seconds timeout);

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

/// The variables that name the folder of shared memory, which the launcher makes for each job: of Open MPI 4 (vader)
/// and 5 (sm), and of windows.
inline constexpr std::array kBackingFolderVariables{
    "OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory", "OMPI_MCA_osc_sm_backing_directory"};

/// Unsets those that name no folder of this host: a rank on another host than the launcher's takes the library's own,
/// and would share no memory otherwise. To be called before MPI is initialised and before there are threads.
void forget_absent_backing_folders();

}  // namespace hbench
