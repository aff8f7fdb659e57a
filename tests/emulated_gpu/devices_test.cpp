// What hbench says of GPUs and of NCCL, and what it refuses, where GPUs are there: on emulated ones.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/launching_device.hpp"
#include "collectives/cuda/nccl.hpp"
#include "collectives/cuda/shareable_memory.hpp"
#include "tests/emulated_gpu/machine.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::devices_test {
namespace {

using ::testing::ElementsAre;

/// As many GPUs as a test wants; two again behind it.
class GpusOfThisProcess : public ::testing::Test {
 protected:
  void TearDown() override { emulated_gpu::show_devices(2); }
};

TEST_F(GpusOfThisProcess, HaveRanksInTurn) {
  EXPECT_EQ(cuda_devices(), 2);
  EXPECT_TRUE(cuda_availability().available);
  for (Rank rank = 0; rank < 5; ++rank) EXPECT_EQ(gpu_of(rank), rank % 2);
  EXPECT_EQ(cuda_runtime_version(), "13.0");
}

TEST_F(GpusOfThisProcess, AreKnownByTheirAddresses) {
  EXPECT_THAT(cuda_pci_addresses(), ElementsAre("0000:1b:00.0", "0000:1c:00.0"));
  EXPECT_EQ(pci_address_of(*make_cuda_device(1)), "0000:1c:00.0");
}

TEST_F(GpusOfThisProcess, AreMissedInWords) {
  emulated_gpu::show_devices(0);
  EXPECT_EQ(cuda_devices(), 0);
  EXPECT_EQ(gpu_of(3), 0);
  EXPECT_THAT(cuda_pci_addresses(), ElementsAre());
  expect_error([] { make_cuda_device(0); }, ExitCode::environment, HasSubstr("no GPU that this process may use"));
}

TEST_F(GpusOfThisProcess, HaveAStreamForEachDeviceOrTheDefaultOne) {
  const auto stream_of = [](Device& device) { return cuda::launching_device(device).queue().stream; };
  const auto one = make_cuda_device(0), another = make_cuda_device(0), shared = make_default_cuda_device(0);
  EXPECT_NE(stream_of(*one), nullptr);
  EXPECT_NE(stream_of(*one), stream_of(*another));
  EXPECT_EQ(stream_of(*shared), nullptr);
  EXPECT_EQ(cuda::launching_device(*one).queue().multiprocessors, emulated_gpu::kMultiprocessors);
}

TEST_F(GpusOfThisProcess, MeasureTimeThatDoesNotRunBackwards) {
  const auto device = make_cuda_device(0);
  const Event begin = device->record_timed_event(), end = device->record_timed_event();
  EXPECT_GE(device->elapsed(begin, end).value, 0);
}

TEST_F(GpusOfThisProcess, KeepMemoryThatOtherProcessesOpened) {
  const auto memory = std::make_shared<cuda::ShareableMemory>(0);
  DeviceMemory first = memory->allocate(1000);
  const std::span<const std::byte> bytes(first.get(), 1000);
  const MemoryHandle whole = memory->handle_of(bytes), rest = memory->handle_of(bytes.subspan(100));
  EXPECT_EQ(whole.name, rest.name);
  EXPECT_EQ(rest.offset - whole.offset, 100U);
  const std::array<std::byte, 8> host{};
  expect_error([&] { memory->handle_of(host); }, ExitCode::internal, HasSubstr("was not allocated for that"),
               IsEmpty());
  first = nullptr;
  EXPECT_EQ(memory->allocate(2000).get(), bytes.data()) << "sizes are rounded up, and what is given back fits";
  EXPECT_EQ(memory->allocate(std::size_t{1} << 40), nullptr);
}

TEST_F(GpusOfThisProcess, AreSharedUnderNcclWhereKernelsAreLoadedEagerly) {
  EXPECT_EQ(nccl_version(), "2.30.0");
  EXPECT_TRUE(nccl_availability().available);
  unsetenv("CUDA_MODULE_LOADING");
  expect_error([] { make_nccl_endpoints(3); }, ExitCode::environment, HasSubstr("3 ranks do not go on 2 GPUs"));
  EXPECT_EQ(make_nccl_endpoints(2).size(), 2U);
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  EXPECT_EQ(make_nccl_endpoints(3).size(), 3U);
}

}  // namespace
}  // namespace hbench::devices_test
