#include <cstring>
#include <new>
#include <thread>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/low_rank.hpp"
#include "collectives/executors/device.hpp"

namespace hbench {
namespace {

constexpr std::align_val_t kCacheLine{64};

class HostDevice final : public Device {
 public:
  DeviceMemory allocate(std::size_t bytes) override {
    auto* const memory = static_cast<std::byte*>(::operator new(bytes, kCacheLine));
    return {memory, [](std::byte* address) { ::operator delete(address, kCacheLine); }};
  }

  void accumulate(DataType type, ReduceOp op, std::span<const std::byte> in, std::span<std::byte> inout) override {
    hbench::accumulate(type, op, in, inout);
  }
  void fill_neutral(DataType type, ReduceOp op, std::span<std::byte> buffer) override {
    hbench::fill_neutral(type, op, buffer);
  }
  void finish(DataType type, ReduceOp op, int workers, std::span<std::byte> buffer) override {
    hbench::finish(type, op, workers, buffer);
  }
  void keep_rest(std::span<const float> whole, std::span<float> part) override { hbench::keep_rest(whole, part); }

  std::shared_ptr<const Codec> codec_of(const CompressorChoice& choice) override { return choice.codec; }
  std::unique_ptr<LowRankProducts> low_rank_products() override { return host_low_rank_products(); }

  void copy(std::span<const std::byte> from, std::span<std::byte> to) override {
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  }

  void write(std::span<const std::byte> host, std::span<std::byte> to) override { copy(host, to); }
  void read(std::span<const std::byte> from, std::span<std::byte> host) override { copy(from, host); }

  Moment mark() override { return nullptr; }
  void wait(const Moment&) override {}
  bool passed(const Moment&) override { return true; }
};

}  // namespace

Device& host_device() {
  static HostDevice device;
  return device;
}

std::shared_ptr<Device> shared_host_device() {
  return {&host_device(), [](Device*) {}};
}

void settle(Device& device) {
  const Moment end = device.mark();
  while (!device.passed(end)) std::this_thread::yield();
}

}  // namespace hbench
