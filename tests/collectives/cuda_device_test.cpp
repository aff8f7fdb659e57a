// CudaDevice and its kernels on a GPU against the host's; skipped, with the reason, where there is none.

#include "tests/collectives/cuda_device.hpp"
#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::cuda_device_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

class CudaDevices : public OnGpu {};

INSTANTIATE_TEST_SUITE_P(Gpu, CudaReductions, ::testing::Values(make_gpu));
INSTANTIATE_TEST_SUITE_P(Gpu, CudaCodecs, ::testing::Values(make_gpu));
INSTANTIATE_TEST_SUITE_P(Gpu, CudaPacking, ::testing::Values(make_gpu));
INSTANTIATE_TEST_SUITE_P(Gpu, CudaProducts, ::testing::Values(make_gpu));

// More elements than a grid that fills any GPU takes in one go: 16 M floats are 4096 tiles.
TEST_F(CudaDevices, WalkOnWhenTheGridIsFull) {
  const std::size_t elements = emulated_share(64, 16 << 20) + 5;
  const std::vector<std::byte> given = random_elements(DataType::float32, elements, random);
  std::vector<std::byte> right = random_elements(DataType::float32, elements, random);
  GuardedMemory in(*device, {4, given.size()});
  GuardedMemory inout(*device, {4, right.size()});
  in.put(given);
  inout.put(right);
  accumulate(DataType::float32, ReduceOp::sum, given, right);
  device->accumulate(DataType::float32, ReduceOp::sum, in.span(), inout.span());
  EXPECT_TRUE(same_elements(DataType::float32, inout.get(), right));
}

TEST_F(CudaDevices, AllocateAlignedMemory) {
  const DeviceMemory memory = device->allocate(100'003);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % 128, 0U);
  EXPECT_NE(device->allocate(0), nullptr);
}

TEST_F(CudaDevices, CopyAndReadWhatWasWritten) {
  const std::vector<std::byte> given = random_elements(DataType::uint8, 1'000'003, random);
  GuardedMemory from(*device, {3, given.size()});
  GuardedMemory to(*device, {8, given.size()});
  from.put(given);
  device->copy(from.span(), to.span());
  EXPECT_EQ(to.get(), given);
  device->copy({}, {});
}

TEST_F(CudaDevices, SayHowMuchMemoryThereIsWhenItIsNotEnough) {
  expect_error([&] { device->allocate(std::size_t{1} << 50); }, ExitCode::environment,
               HasSubstr("1073741824.0 MiB were asked for"));
  EXPECT_NE(device->allocate(1024), nullptr) << "and go on";
}

TEST_F(CudaDevices, PassMomentsWhenTheirWorkIsDone) {
  EXPECT_TRUE(device->query(nullptr));
  const std::size_t bytes = emulated_share(64, 64 << 20);
  const DeviceMemory memory = device->allocate(bytes);
  device->fill_neutral(DataType::float32, ReduceOp::min, {memory.get(), bytes});
  const Event mark = device->record_event();
  synchronize(*device, mark);
  device->wait(mark);
  device->wait(nullptr);
  // Events are used again: far more marks than a driver would like to make.
  for (int i = 0; i < 10'000; ++i) device->wait(device->record_event());
  std::vector<std::byte> none;
  device->read({}, none);
}

// Two devices add the other's buffer to their own, in turns that only moments put in order.
TEST_F(CudaDevices, WaitForOneAnothersMoments) {
  constexpr std::size_t kElements = emulated_share(64, 1 << 20);
  constexpr int kTurns = 20;
  const std::unique_ptr<Device> other = make_cuda_device(0);
  const DeviceMemory mine = device->allocate(kElements * 4);
  const DeviceMemory theirs = other->allocate(kElements * 4);
  const std::vector<std::int32_t> ones(kElements, 1);
  device->write(std::as_bytes(std::span(ones)), {mine.get(), kElements * 4});
  const std::span<std::byte> a(mine.get(), kElements * 4);
  const std::span<std::byte> b(theirs.get(), kElements * 4);
  other->fill_neutral(DataType::int32, ReduceOp::sum, b);
  Event last = device->record_event();
  for (int turn = 0; turn < kTurns; ++turn) {
    other->wait(last);
    other->accumulate(DataType::int32, ReduceOp::sum, a, b);
    last = other->record_event();
    device->wait(last);
    device->accumulate(DataType::int32, ReduceOp::sum, b, a);
    last = device->record_event();
  }
  // Fibonacci: (a, b) = (1, 0), b += a, a += b, 20 times: a = F(41) with F(1) = F(2) = 1.
  std::vector<std::int32_t> found(kElements);
  device->read(a, std::as_writable_bytes(std::span(found)));
  EXPECT_EQ(found, std::vector<std::int32_t>(kElements, 165'580'141));
}

TEST_F(CudaDevices, OutliveNeitherTheirMemoryNorTheirMoments) {
  auto short_lived = make_cuda_device(0);
  const DeviceMemory memory = short_lived->allocate(4096);
  const Event mark = short_lived->record_event();
  short_lived.reset();
  device->wait(mark);
  device->fill_neutral(DataType::uint8, ReduceOp::min, {memory.get(), 4096});
  std::vector<std::byte> found(4096);
  device->read({memory.get(), 4096}, found);
  EXPECT_EQ(found, std::vector<std::byte>(4096, std::byte{0xff}));
}

TEST_F(CudaDevices, RefuseGpusThatAreNotThere) {
  EXPECT_THROW(make_cuda_device(-1), Error);
  EXPECT_THROW(make_cuda_device(cuda_devices()), Error);
}

}  // namespace
}  // namespace hbench::cuda_device_test
