// The emulated NCCL reports and refuses what NCCL's documentation forbids.

#include <gtest/gtest.h>
#include <nccl.h>

#include <vector>

#include "tests/emulated_gpu/machine.hpp"
#include "tests/emulated_gpu/reports.hpp"

namespace hbench::nccl_test {
namespace {

using emulated_gpu::Mistake;
using emulated_gpu::Report;

/// Two ranks of one job on GPU 0, each with a stream and 16 bytes.
class EmulatedNccl : public ::testing::Test {
 protected:
  void SetUp() override {
    cudaSetDevice(0);
    ncclUniqueId job{};
    ncclGetUniqueId(&job);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    EXPECT_EQ(ncclCommInitRankConfig(&ranks[0], 2, job, 0, &config), ncclInvalidArgument) << "it would block";
    config.blocking = 0;
    for (int rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(ncclCommInitRankConfig(&ranks[rank], 2, job, rank, &config), ncclInProgress);
      cudaStreamCreateWithFlags(&streams[rank], cudaStreamNonBlocking);
      cudaMalloc(&memory[rank], 16);
      cudaMemsetAsync(memory[rank], rank + 1, 16, streams[rank]);
    }
    for (int rank = 0; rank < 2; ++rank) await(rank);
  }
  void TearDown() override {
    emulated_gpu::drain();
    for (int rank = 0; rank < 2; ++rank) {
      ncclCommDestroy(ranks[rank]);
      cudaFree(memory[rank]);
      cudaStreamDestroy(streams[rank]);
    }
  }

  /// Until the rank's communicator has enqueued what was issued.
  void await(int rank) {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) ncclCommGetAsyncError(ranks[rank], &state);
    EXPECT_EQ(state, ncclSuccess);
  }
  ncclResult_t all_reduce(int rank, cudaStream_t stream) {
    return ncclAllReduce(memory[rank], memory[rank], 16, ncclUint8, ncclSum, ranks[rank], stream);
  }
  static void expect_one_report() {
    emulated_gpu::drain();
    const std::vector<Report> reports = emulated_gpu::take_reports();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].mistake, Mistake::nccl);
  }

  ncclComm_t ranks[2] = {};
  cudaStream_t streams[2] = {};
  void* memory[2] = {};
};

TEST_F(EmulatedNccl, AddsUpWhatBothRanksBring) {
  for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(all_reduce(rank, streams[rank]), ncclInProgress);
  for (int rank = 0; rank < 2; ++rank) await(rank);
  std::vector<unsigned char> found(16);
  cudaMemcpyAsync(found.data(), memory[1], 16, cudaMemcpyDeviceToHost, streams[1]);
  emulated_gpu::drain();
  EXPECT_EQ(found, std::vector<unsigned char>(16, 3));
}

TEST_F(EmulatedNccl, ReportsWorkThatIsIssuedBeforeTheLastWasEnqueued) {
  EXPECT_EQ(all_reduce(0, streams[0]), ncclInProgress);
  EXPECT_EQ(all_reduce(0, streams[0]), ncclInvalidUsage);
  EXPECT_EQ(all_reduce(1, streams[1]), ncclInProgress);
  for (int rank = 0; rank < 2; ++rank) await(rank);
  expect_one_report();
}

TEST_F(EmulatedNccl, ReportsMessagesOfAnotherSizeThanExpected) {
  EXPECT_EQ(ncclSend(memory[0], 16, ncclUint8, 1, ranks[0], streams[0]), ncclInProgress);
  EXPECT_EQ(ncclRecv(memory[1], 8, ncclUint8, 0, ranks[1], streams[1]), ncclInProgress);
  for (int rank = 0; rank < 2; ++rank) await(rank);
  expect_one_report();
}

TEST_F(EmulatedNccl, RefusesAStreamOfAnotherGpu) {
  cudaSetDevice(1);
  EXPECT_EQ(all_reduce(0, nullptr), ncclInvalidArgument);
  cudaSetDevice(0);
}

TEST_F(EmulatedNccl, EndsTheJobForAllWhenOneRankAborts) {
  EXPECT_EQ(all_reduce(1, streams[1]), ncclInProgress);
  await(1);
  ncclCommAbort(ranks[0]);
  ncclResult_t state = ncclSuccess;
  ncclCommGetAsyncError(ranks[1], &state);
  EXPECT_EQ(state, ncclRemoteError);
  EXPECT_EQ(all_reduce(1, streams[1]), ncclInvalidUsage);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclUniqueId job{};
  ncclGetUniqueId(&job);
  ncclCommInitRankConfig(&ranks[0], 1, job, 0, &config);  // for the end of the test
}

}  // namespace
}  // namespace hbench::nccl_test
