// The emulated runtime refuses and promises, rule by rule, what CUDA's documentation says.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/emulated_gpu/kernel.hpp"
#include "tests/emulated_gpu/machine.hpp"
#include "tests/emulated_gpu/reports.hpp"

namespace hbench::runtime_test {
namespace {

using emulated_gpu::drain;
using emulated_gpu::Launch;
using emulated_gpu::take_reports;

/// A stream, an event and a page of memory of a pool, of GPU 0.
class EmulatedRuntime : public ::testing::Test {
 protected:
  void SetUp() override {
    cudaGetLastError();
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
    ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
    ASSERT_EQ(cudaMallocFromPoolAsync(&memory, kBytes, pool, stream), cudaSuccess);
  }
  void TearDown() override {
    cudaSetDevice(0);
    cudaFreeAsync(memory, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaEventDestroy(event);
    cudaGetLastError();
  }

  static constexpr std::size_t kBytes = 4096;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaMemPool_t pool = nullptr;
  void* memory = nullptr;
};

TEST_F(EmulatedRuntime, KeepsTheLastErrorUntilItIsAskedFor) {
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(EmulatedRuntime, RefusesDevicesThatAreNotVisible) {
  emulated_gpu::show_devices(3);
  EXPECT_EQ(cudaSetDevice(2), cudaSuccess);
  emulated_gpu::show_devices(2);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
}

TEST_F(EmulatedRuntime, RefusesLaunchesThatNoGpuTakes) {
  const auto result_of = [&](dim3 grid, dim3 block, std::size_t bytes) {
    static const std::vector<char> kArguments(8192);
    emulated_gpu::launch({.grid = grid,
                          .block = block,
                          .stream = stream,
                          .argument_bytes = bytes,
                          .arguments = kArguments.data(),
                          .body = [](const void*) {}});
    return cudaGetLastError();
  };
  EXPECT_EQ(result_of(1, 1024, 4096), cudaSuccess);
  EXPECT_EQ(result_of(0, 1, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(result_of(1, 1025, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(result_of(1, {32, 32, 2}, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(result_of({1, 65536}, 1, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(result_of(1, 1, 4097), cudaErrorInvalidConfiguration);
  cudaSetDevice(1);
  EXPECT_EQ(result_of(1, 1, 0), cudaErrorInvalidResourceHandle) << "a stream of another GPU";
}

TEST_F(EmulatedRuntime, RefusesCopiesInTheWrongDirection) {
  char host[8] = {};
  EXPECT_EQ(cudaMemcpyAsync(memory, host, 8, cudaMemcpyDeviceToHost, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(host, memory, 8, cudaMemcpyHostToDevice, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(host, memory, 8, cudaMemcpyDeviceToDevice, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(host, 0, 8, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(memory, host, 8, cudaMemcpyDefault, stream), cudaSuccess);
  drain();
}

TEST_F(EmulatedRuntime, GivesMemoryThatIsAlignedTo256BytesAndNoMore) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 512, 256U);
}

TEST_F(EmulatedRuntime, GivesMemoryWithoutZerosInIt) {
  char content[16] = {};
  cudaMemcpyAsync(content, memory, sizeof content, cudaMemcpyDeviceToHost, stream);
  drain();
  EXPECT_EQ(std::ranges::count(content, '\0'), 0);
  ASSERT_EQ(take_reports().size(), 1U) << "it is unwritten";
}

TEST_F(EmulatedRuntime, HasNoMoreMemoryThanItSays) {
  std::size_t free = 0, total = 0, after = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  void* more = nullptr;
  EXPECT_EQ(cudaMallocFromPoolAsync(&more, total + 1, pool, stream), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocFromPoolAsync(&more, free + 1, pool, stream), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocFromPoolAsync(&more, 0, pool, stream), cudaErrorInvalidValue);
  ASSERT_EQ(cudaMallocFromPoolAsync(&more, kBytes, pool, stream), cudaSuccess);
  cudaMemGetInfo(&after, &total);
  EXPECT_EQ(after, free - kBytes);
  cudaFreeAsync(more, stream);
  drain();
  cudaMemGetInfo(&after, &total);
  EXPECT_EQ(after, free);
}

TEST_F(EmulatedRuntime, RecordsEventsOnStreamsOfTheirOwnDeviceAlone) {
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess) << "never recorded";
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  cudaSetDevice(1);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamWaitEvent(nullptr, event, 0), cudaSuccess) << "which may be of any";
}

TEST_F(EmulatedRuntime, MeasuresBetweenTimedEventsAlone) {
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreateWithFlags(&begin, cudaEventDefault);
  cudaEventCreateWithFlags(&end, cudaEventDefault);
  for (cudaEvent_t each : {begin, event, end}) cudaEventRecord(each, stream);
  drain();
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
}

TEST_F(EmulatedRuntime, EnablesPeerAccessOnce) {
  emulated_gpu::machine().peers = {};
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice) << "a GPU has its own memory";
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
}

TEST_F(EmulatedRuntime, NamesMemoryOfCudaMallocAloneForOtherProcesses) {
  cudaIpcMemHandle_t handle{};
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, memory), cudaErrorInvalidValue) << "of a pool";
  void *plain = nullptr, *opened = nullptr;
  ASSERT_EQ(cudaMalloc(&plain, kBytes), cudaSuccess);
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, static_cast<char*>(plain) + 8), cudaErrorInvalidValue);
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, plain), cudaSuccess);
  EXPECT_EQ(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess), cudaErrorInvalidResourceHandle)
      << "by the process itself";
  EXPECT_EQ(cudaIpcCloseMemHandle(plain), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(plain), cudaSuccess);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  ASSERT_EQ(take_reports().size(), 1U) << "memory was closed that had not been opened";
}

TEST_F(EmulatedRuntime, DoesNotSurviveAFork) {
  const pid_t child = fork();
  if (child == 0) _exit(cudaSetDevice(0) == cudaErrorInitializationError ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(EmulatedRuntime, ConvertsToTheNearestHalf) {
  EXPECT_EQ(emulated_gpu::half_from_float(1.0F + 0x1p-11F), 0x3c00) << "to even";
  EXPECT_EQ(emulated_gpu::half_from_float(1.0F + 0x3p-11F), 0x3c02);
  EXPECT_EQ(emulated_gpu::half_from_float(65520.0F), 0x7c00) << "to infinity";
  EXPECT_EQ(emulated_gpu::float_from_half(0x0001), 0x1p-24F);
}

}  // namespace
}  // namespace hbench::runtime_test
