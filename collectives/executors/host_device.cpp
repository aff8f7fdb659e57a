#include <cstring>
#include <new>

#include "collectives/arithmetic/arithmetic.hpp"
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

}  // namespace hbench
