#pragma once

/// NCCL's communicators and error codes.

#include <nccl.h>

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench::cuda {

/// \throws Error (lost_rank) `<what>: <NCCL's words>`, unless `code` is success or still in progress.
void succeed(ncclResult_t code, std::string_view what);

/// Shared by the ranks of one job: true once a rank has aborted it, for all of them. Set and read by any thread.
using NcclJobOver = std::shared_ptr<std::atomic<bool>>;

/// One rank's communicator, called by its rank alone. Non-blocking: no call waits for a peer, so that ranks notice one
/// that never comes (NCCL user guide, Creating a communicator with options).
class NcclCommunicator {
 public:
  NcclCommunicator(ncclComm_t communicator, NcclJobOver over) : communicator_(communicator), over_(std::move(over)) {}
  /// \pre what was issued is complete, or a rank of the job has aborted.
  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  /// \pre not aborted; for new work: idle
  ncclComm_t handle() const { return communicator_; }
  /// Whether NCCL has enqueued everything that was issued; only then may more be issued, to it or to its stream.
  /// \throws Error (lost_rank) when a peer has failed or aborted.
  bool idle();
  /// Cancels what is in flight on this rank's GPU, and ends the job.
  void abort();

 private:
  ncclComm_t communicator_;
  NcclJobOver over_;
};

/// Returns the communicators of all ranks of a job in this process; rank r on GPU r modulo `gpus`. \throws Error
/// (environment) when NCCL does not take `ranks` ranks, (lost_rank) when it takes longer than `timeout`.
std::vector<std::shared_ptr<NcclCommunicator>> make_nccl_communicators(int ranks, int gpus, Seconds timeout);

/// A rank of a job whose other ranks are in other processes.
struct NcclRank {
  ncclUniqueId job;
  Rank rank = 0;
  int ranks = 1;
  int gpu = 0;
  int ranks_per_gpu = 1;  ///< on the host with most of them: the same for all ranks
};

/// The communicator of one rank; waits for the others. \throws as `make_nccl_communicators`.
std::shared_ptr<NcclCommunicator> make_nccl_communicator(const NcclRank& rank, Seconds timeout);

}  // namespace hbench::cuda
