#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/low_rank.hpp"
#include "collectives/device/device.hpp"

namespace hbench {
namespace {

constexpr std::align_val_t kCacheLine{64};

struct TimedEvent final : DeviceEvent {
  std::chrono::steady_clock::time_point time = std::chrono::steady_clock::now();
};

std::chrono::steady_clock::time_point time_of(const Event& event) {
  return static_cast<const TimedEvent&>(*event).time;
}

class Copies final : public Packing {
 public:
  Copies(Device& device, std::span<const std::span<std::byte>> parts)
      : device_(device), parts_(parts.begin(), parts.end()) {}

  void pack(std::span<std::byte> to) override {
    for (const std::span<std::byte> part : parts_) {
      device_.copy(part, to.first(part.size()));
      to = to.subspan(part.size());
    }
  }
  void unpack(std::span<const std::byte> from) override {
    for (const std::span<std::byte> part : parts_) {
      device_.copy(from.first(part.size()), part);
      from = from.subspan(part.size());
    }
  }

 private:
  Device& device_;
  std::vector<std::span<std::byte>> parts_;
};

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
  void change(const NumbersChange& by, std::span<float> numbers) override { hbench::change(by, numbers); }

  std::shared_ptr<const Codec> codec_of(const CompressorChoice& choice) override { return choice.codec; }
  std::unique_ptr<LowRankProducts> low_rank_products() override { return host_low_rank_products(); }

  void copy(std::span<const std::byte> from, std::span<std::byte> to) override {
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  }

  void write(std::span<const std::byte> host, std::span<std::byte> to) override { copy(host, to); }
  void read(std::span<const std::byte> from, std::span<std::byte> host) override { copy(from, host); }

  Event record_event() override { return nullptr; }
  Event record_timed_event() override { return std::make_shared<TimedEvent>(); }
  Seconds elapsed(const Event& begin, const Event& end) override {
    return Seconds(std::chrono::duration<double>(time_of(end) - time_of(begin)).count());
  }
  void wait(const Event&) override {}
  bool query(const Event&) override { return true; }
};

}  // namespace

std::unique_ptr<Packing> Device::packing(std::span<const std::span<std::byte>> parts) {
  return std::make_unique<Copies>(*this, parts);
}

void synchronize(Device& device) { synchronize(device, device.record_event()); }

void synchronize(Device& device, const Event& event) {
  while (!device.query(event)) std::this_thread::yield();
}

void synchronize_noexcept(Device& device) noexcept {
  try {
    synchronize(device);
  } catch (const Error&) {
  }
}

void synchronize_noexcept(Device& device, const Event& event) noexcept {
  try {
    synchronize(device, event);
  } catch (const Error&) {
  }
}

DeviceFloats make_floats(Device& device, std::size_t count) {
  DeviceFloats made{device.allocate(count * sizeof(float)), {}};
  made.floats = {reinterpret_cast<float*>(made.memory.get()), count};
  if (count == 0) return made;
  device.fill_neutral(DataType::float32, ReduceOp::sum, std::as_writable_bytes(made.floats));
  synchronize(device);
  return made;
}

void walk_floats(StateWalk& state, std::string_view name, Device& device, std::span<float> floats) {
  const std::span<std::byte> there = std::as_writable_bytes(floats);
  if (&device == &host_device()) return state.bytes(name, there);
  std::vector<std::byte> here(there.size());
  if (!state.brings()) device.read(there, here);
  state.bytes(name, here);
  if (state.brings()) device.write(here, there);
}

Device& host_device() {
  static HostDevice device;
  return device;
}

std::shared_ptr<Device> shared_host_device() {
  return {&host_device(), [](Device*) {}};
}

}  // namespace hbench
