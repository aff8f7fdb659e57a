#include "collectives/cuda/nccl_communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/cuda/launching_device.hpp"
#include "collectives/cuda/nccl.hpp"

namespace hbench::cuda {
namespace {

using Communicators = std::vector<std::shared_ptr<NcclCommunicator>>;

/// The first that can have several ranks on one GPU, if its configuration allows it.
constexpr int kSharesGpus = NCCL_VERSION(2, 30, 0);
constexpr std::chrono::milliseconds kNap{1};

int version() {
  int number = 0;
  ncclGetVersion(&number);
  return number;
}

[[noreturn]] void refuse_sharing(std::string_view what) {
  throw Error(ExitCode::environment, fmt::format("NCCL {} takes one rank for each GPU: {}", nccl_version(), what),
              "ask for as many ranks as there are GPUs, or take NCCL 2.30 or newer; the executor cuda shares GPUs");
}

/// Ranks of one process share a GPU's context. CUDA loads a kernel when it is first launched and may wait for the
/// context to be idle to do so (CUDA C++ Programming Guide, "Lazy Loading"): it would wait for a kernel of NCCL that
/// waits for the rank that is loading.
bool loads_lazily() {
  const char* mode = std::getenv("CUDA_MODULE_LOADING");
  return mode == nullptr || std::string_view(mode) != "EAGER";
}

void check_ranks(int ranks, int gpus) {
  if (ranks <= gpus) return;
  const std::string sharing = fmt::format("{} ranks do not go on {} GPU{}", ranks, gpus, gpus == 1 ? "" : "s");
  if (version() < kSharesGpus) refuse_sharing(sharing);
  if (loads_lazily())
    throw Error(ExitCode::environment, fmt::format("{} while CUDA loads kernels when they are first launched", sharing),
                "set CUDA_MODULE_LOADING=EAGER and NCCL_MULTI_RANK_GPU_ENABLE=1");
}

/// Never blocking. Kernels of NCCL wait for each other on the GPU, so those of ranks that share one must run at once:
/// each is given its share of half of the multiprocessors. Left to NCCL, 4 ranks take 128 of the 132 of an H200 in
/// clusters of 4, and have waited for ever.
ncclConfig_t configuration(int ranks_per_gpu) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (ranks_per_gpu == 1) return config;
  int gpu = 0, multiprocessors = 0;
  succeed(cudaGetDevice(&gpu), "asking for a GPU");
  succeed(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, gpu), "asking for a GPU");
  config.maxCTAs = std::max(1, multiprocessors / (2 * ranks_per_gpu));
  return config;
}

[[noreturn]] void refuse(int ranks, int gpus, std::string_view words) {
  throw Error(ExitCode::environment,
              fmt::format("NCCL {} does not start {} ranks on {} GPU{}: {}", nccl_version(), ranks, gpus,
                          gpus == 1 ? "" : "s", words),
              ranks > gpus ? "several ranks on one GPU need NCCL_MULTI_RANK_GPU_ENABLE=1; NCCL_DEBUG=WARN says more"
                           : "NCCL_DEBUG=WARN makes NCCL say why");
}

Communicators begin(int ranks, int gpus) {
  ncclUniqueId id;
  if (const ncclResult_t code = ncclGetUniqueId(&id); code != ncclSuccess)
    refuse(ranks, gpus, ncclGetErrorString(code));
  const auto over = std::make_shared<std::atomic<bool>>(false);
  ncclConfig_t config = configuration((ranks + gpus - 1) / gpus);
  Communicators made;
  ncclResult_t result = ncclGroupStart();
  for (int rank = 0; rank < ranks && (result == ncclSuccess || result == ncclInProgress); ++rank) {
    succeed(cudaSetDevice(rank % gpus), "using a GPU");
    ncclComm_t communicator = nullptr;
    result = ncclCommInitRankConfig(&communicator, ranks, id, rank, &config);
    if (communicator != nullptr) made.push_back(std::make_shared<NcclCommunicator>(communicator, over));
  }
  if (const ncclResult_t end = ncclGroupEnd(); result == ncclSuccess || result == ncclInProgress) result = end;
  if (result == ncclSuccess || result == ncclInProgress) return made;
  for (const auto& each : made) each->abort();
  refuse(ranks, gpus, ncclGetErrorString(result));
}

/// Until all can be used; otherwise none is left behind.
void await(const Communicators& made, Seconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout.value);
  try {
    while (!std::ranges::all_of(made, [](const auto& each) { return each->idle(); })) {
      if (std::chrono::steady_clock::now() > deadline)
        throw Error(ExitCode::lost_rank, fmt::format("NCCL did not start within {}", format(timeout)),
                    "NCCL_DEBUG=INFO makes NCCL say what it waits for");
      std::this_thread::sleep_for(kNap);
    }
  } catch (const Error&) {
    for (const auto& each : made) each->abort();
    throw;
  }
}

}  // namespace

void succeed(ncclResult_t code, std::string_view what) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  throw Error(ExitCode::lost_rank, fmt::format("{}: {}", what, ncclGetErrorString(code)),
              "see what the other ranks said last; NCCL_DEBUG=WARN makes NCCL say more");
}

NcclCommunicator::~NcclCommunicator() {
  if (communicator_ == nullptr) return;
  if (over_->load()) {
    abort();
  } else {
    ncclCommDestroy(communicator_);
  }
}

bool NcclCommunicator::idle() {
  if (over_->load()) {
    abort();
    throw Error(ExitCode::lost_rank, "a rank has given up, and NCCL's job with it", "see what failed first");
  }
  ncclResult_t state = ncclSuccess;
  succeed(ncclCommGetAsyncError(communicator_, &state), "asking NCCL how it goes");
  succeed(state, "NCCL");
  return state == ncclSuccess;
}

void NcclCommunicator::abort() {
  over_->store(true);
  if (communicator_ != nullptr) ncclCommAbort(communicator_);
  communicator_ = nullptr;
}

Communicators make_nccl_communicators(int ranks, int gpus, Seconds timeout) {
  check_ranks(ranks, gpus);
  Communicators made = begin(ranks, gpus);
  await(made, timeout);
  return made;
}

std::shared_ptr<NcclCommunicator> make_nccl_communicator(const NcclRank& rank, Seconds timeout) {
  if (rank.ranks_per_gpu > 1 && version() < kSharesGpus)
    refuse_sharing(fmt::format("rank {} would share GPU {} of its host", rank.rank, rank.gpu));
  succeed(cudaSetDevice(rank.gpu), "using a GPU");
  ncclConfig_t config = configuration(rank.ranks_per_gpu);
  ncclComm_t communicator = nullptr;
  succeed(ncclCommInitRankConfig(&communicator, rank.ranks, rank.job, rank.rank, &config), "joining NCCL's job");
  const auto made = std::make_shared<NcclCommunicator>(communicator, std::make_shared<std::atomic<bool>>(false));
  await({made}, timeout);
  return made;
}

}  // namespace hbench::cuda
