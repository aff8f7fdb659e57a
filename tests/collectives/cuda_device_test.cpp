// CudaDevice and its kernels on a GPU against the host's; skipped, with the reason, where there is none.

#include <gmock/gmock.h>

#include <thread>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "tests/collectives/cuda_device.hpp"

namespace hbench::cuda_device_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)
using ::testing::HasSubstr;

class CudaKernels : public OnGpu {};
class CudaDevices : public OnGpu {};

TEST_F(CudaKernels, AccumulateAsTheHostDoesForEveryTypeAndOperation) {
  for_each_type_and_operation([&](DataType type, ReduceOp op) {
    for (const std::size_t elements : kCounts)
      for (const auto& [in_off, inout_off] : kOffsets) {
        const std::vector<std::byte> given = random_elements(type, elements, random);
        std::vector<std::byte> right = random_elements(type, elements, random);
        GpuMemory in(*device, {in_off * size_of(type), given.size()});
        GpuMemory inout(*device, {inout_off * size_of(type), right.size()});
        in.put(given);
        inout.put(right);
        accumulate(type, op, given, right);
        device->accumulate(type, op, in.span(), inout.span());
        ASSERT_TRUE(same_elements(type, inout.get(), right)) << in_off << ", " << inout_off;
        ASSERT_TRUE(same_elements(type, in.get(), given));
      }
  });
}

TEST_F(CudaKernels, FillAndFinishAsTheHostDoesForEveryTypeAndOperation) {
  for_each_type_and_operation([&](DataType type, ReduceOp op) {
    for (const std::size_t elements : kCounts)
      for (const std::size_t off : {0, 1, 3}) {
        std::vector<std::byte> right(elements * size_of(type));
        fill_neutral(type, op, right);
        GpuMemory buffer(*device, {off * size_of(type), right.size()});
        device->fill_neutral(type, op, buffer.span());
        ASSERT_TRUE(same_elements(type, buffer.get(), right));
        right = random_elements(type, elements, random);
        buffer.put(right);
        for (const int workers : {1, 3, 8}) {
          finish(type, op, workers, right);
          device->finish(type, op, workers, buffer.span());
          ASSERT_TRUE(same_elements(type, buffer.get(), right)) << workers;
        }
      }
  });
}

TEST_F(CudaKernels, KeepTheRestAsTheHostDoes) {
  for (const std::size_t elements : kCounts)
    for (const auto& [whole_off, part_off] : kOffsets) {
      const std::vector<std::byte> given = random_elements(DataType::float32, elements, random);
      std::vector<std::byte> right = random_elements(DataType::float32, elements, random);
      GpuMemory whole(*device, {whole_off * sizeof(float), given.size()});
      GpuMemory part(*device, {part_off * sizeof(float), right.size()});
      whole.put(given);
      part.put(right);
      keep_rest(as_floats(std::as_bytes(std::span(given))), as_floats(std::span(right)));
      device->keep_rest(as_floats(std::as_bytes(whole.span())), as_floats(part.span()));
      ASSERT_EQ(part.get(), right) << whole_off << ", " << part_off;
    }
}

TEST_F(CudaKernels, ChangeNumbersAsTheHostDoes) {
  for (const NumbersChange::Kind kind : kChanges)
    for (const std::size_t elements : kCounts)
      for (const auto& [a_off, x_off] : kOffsets) {
        const std::vector<std::byte> first = random_elements(DataType::float32, elements, random);
        const std::vector<std::byte> second = random_elements(DataType::float32, elements, random);
        std::vector<std::byte> right = random_elements(DataType::float32, elements, random);
        GpuMemory a(*device, {a_off * sizeof(float), first.size()}), b(*device, {a_off * sizeof(float), first.size()});
        GpuMemory x(*device, {x_off * sizeof(float), right.size()});
        a.put(first);
        b.put(second);
        x.put(right);
        NumbersChange by{.kind = kind,
                         .factor = 0.3F,
                         .a = as_floats(std::as_bytes(std::span(first))),
                         .b = as_floats(std::as_bytes(std::span(second))),
                         .root = 0.7F,
                         .epsilon = 1e-3F};
        change(by, as_floats(std::span(right)));
        by.a = as_floats(std::as_bytes(a.span()));
        by.b = as_floats(std::as_bytes(b.span()));
        device->change(by, as_floats(x.span()));
        ASSERT_TRUE(same_elements(DataType::float32, x.get(), right)) << a_off << ", " << x_off;
      }
}

TEST_F(CudaKernels, TakeElementsAtAnyAddress) {
  for (const DataTypeEntry* type : data_types()) {
    const std::vector<std::byte> given = random_elements(type->type, 5000, random);
    std::vector<std::byte> right = random_elements(type->type, 5000, random);
    GpuMemory in(*device, {1, given.size()});
    GpuMemory inout(*device, {7, right.size()});
    in.put(given);
    inout.put(right);
    accumulate(type->type, ReduceOp::sum, given, right);
    device->accumulate(type->type, ReduceOp::sum, in.span(), inout.span());
    ASSERT_TRUE(same_elements(type->type, inout.get(), right)) << type->name;
  }
}

// More elements than a grid that fills any GPU takes in one go: 16 M floats are 4096 tiles.
TEST_F(CudaKernels, WalkOnWhenTheGridIsFull) {
  const std::size_t elements = (16 << 20) + 5;
  const std::vector<std::byte> given = random_elements(DataType::float32, elements, random);
  std::vector<std::byte> right = random_elements(DataType::float32, elements, random);
  GpuMemory in(*device, {4, given.size()});
  GpuMemory inout(*device, {4, right.size()});
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
  GpuMemory from(*device, {3, given.size()});
  GpuMemory to(*device, {8, given.size()});
  from.put(given);
  device->copy(from.span(), to.span());
  EXPECT_EQ(to.get(), given);
  device->copy({}, {});
}

TEST_F(CudaDevices, SayHowMuchMemoryThereIsWhenItIsNotEnough) {
  try {
    device->allocate(std::size_t{1} << 50);
    FAIL() << "a pebibyte was allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_THAT(error.what(), HasSubstr("1073741824.0 MiB were asked for"));
    EXPECT_FALSE(error.hint().empty());
  }
  EXPECT_NE(device->allocate(1024), nullptr) << "and go on";
}

TEST_F(CudaDevices, PassMomentsWhenTheirWorkIsDone) {
  EXPECT_TRUE(device->query(nullptr));
  const DeviceMemory memory = device->allocate(64 << 20);
  device->fill_neutral(DataType::float32, ReduceOp::min, {memory.get(), 64 << 20});
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
  constexpr std::size_t kElements = 1 << 20;
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
