#include "collectives/cuda/nccl_communicator.hpp"

#include <fmt/format.h>

#include "collectives/base/error.hpp"
#include "collectives/cuda/check.hpp"
#include "collectives/executors/nccl.hpp"

namespace hbench::cuda {
namespace {

[[noreturn]] void refuse(int ranks, int gpus, std::string_view words) {
  if (ranks <= gpus)
    throw Error(ExitCode::environment, fmt::format("NCCL {} does not start: {}", nccl_version(), words),
                "NCCL_DEBUG=WARN makes NCCL say why");
  throw Error(
      ExitCode::environment,
      fmt::format("NCCL {} does not take {} ranks on {} GPU{}: {}", nccl_version(), ranks, gpus, gpus == 1 ? "" : "s",
                  words),
      "ask for as many ranks as there are GPUs; NCCL 2.30 or newer takes more with NCCL_MULTI_RANK_GPU_ENABLE=1");
}

}  // namespace

void succeed(ncclResult_t code, std::string_view what) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  throw Error(ExitCode::lost_rank, fmt::format("{}: {}", what, ncclGetErrorString(code)),
              "see what the other ranks said last; NCCL_DEBUG=WARN makes NCCL say more");
}

NcclCommunicator::~NcclCommunicator() {
  if (!aborted_.exchange(true)) ncclCommDestroy(communicator_);
}

void NcclCommunicator::check() const {
  if (aborted_.load()) throw Error(ExitCode::lost_rank, "NCCL's communicator was aborted", "see what failed first");
  ncclResult_t state = ncclSuccess;
  succeed(ncclCommGetAsyncError(communicator_, &state), "asking NCCL how it goes");
  succeed(state, "NCCL");
}

void NcclCommunicator::abort() {
  if (!aborted_.exchange(true)) ncclCommAbort(communicator_);
}

std::vector<std::shared_ptr<NcclCommunicator>> make_nccl_communicators(int ranks, int gpus) {
  ncclUniqueId id;
  if (const ncclResult_t code = ncclGetUniqueId(&id); code != ncclSuccess)
    refuse(ranks, gpus, ncclGetErrorString(code));
  std::vector<ncclComm_t> handles(static_cast<std::size_t>(ranks));
  ncclResult_t result = ncclGroupStart();
  for (int rank = 0; rank < ranks && result == ncclSuccess; ++rank) {
    succeed(cudaSetDevice(rank % gpus), "using a GPU");
    result = ncclCommInitRank(&handles[static_cast<std::size_t>(rank)], ranks, id, rank);
  }
  if (const ncclResult_t end = ncclGroupEnd(); result == ncclSuccess) result = end;
  if (result != ncclSuccess) refuse(ranks, gpus, ncclGetErrorString(result));
  std::vector<std::shared_ptr<NcclCommunicator>> communicators;
  for (ncclComm_t handle : handles) communicators.push_back(std::make_shared<NcclCommunicator>(handle));
  return communicators;
}

}  // namespace hbench::cuda
