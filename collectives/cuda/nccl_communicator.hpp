#pragma once

/// NCCL's communicators and error codes.

#include <nccl.h>

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

namespace hbench::cuda {

/// \throws Error (lost_rank) `<what>: <NCCL's words>`, unless `code` is success or still in progress.
void succeed(ncclResult_t code, std::string_view what);

/// One rank's. Destroyed without being aborted, it waits for what was begun on it.
class NcclCommunicator {
 public:
  explicit NcclCommunicator(ncclComm_t communicator) : communicator_(communicator) {}
  ~NcclCommunicator();
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  /// \pre not aborted
  ncclComm_t handle() const { return communicator_; }
  /// \throws Error (lost_rank) when a peer has failed meanwhile, or the communicator was aborted.
  void check() const;
  /// Ends what is under way on this rank's GPU. Any thread.
  void abort();

 private:
  ncclComm_t communicator_;
  std::atomic<bool> aborted_{false};
};

/// Of all ranks of a job in this process; rank r on GPU r modulo `gpus`.
/// \throws Error (environment) when NCCL does not take so many ranks.
std::vector<std::shared_ptr<NcclCommunicator>> make_nccl_communicators(int ranks, int gpus);

}  // namespace hbench::cuda
