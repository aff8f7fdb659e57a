#pragma once

/// Where a rank's data lie, and what can be done to them there: host memory, or a GPU's.
///
/// A collective issues its work in an order that data dependencies allow. Each device does that work in the order in
/// which it was enqueued, perhaps later. Order between devices is kept by events: a rank that reads another rank's
/// memory first waits for the event after the write, and the owner waits for the event after the read before it writes
/// there again.

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/state_walk.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

class Codec;
struct CompressorChoice;
class LowRankProducts;
struct NumbersChange;

/// A point in the queue of a device; completed once all work enqueued before it is done.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
};
/// Null: completed from the start, as all events of host memory are.
using Event = std::shared_ptr<const DeviceEvent>;

/// Memory of a device, which it may outlive. Freed with its last owner, who makes sure that no enqueued work uses it
/// any more. Its address is not valid on another kind of device.
using DeviceMemory = std::shared_ptr<std::byte>;

/// Copies tensors that lie apart to one buffer of their total size, and back.
class Packing {
 public:
  virtual ~Packing() = default;
  virtual void pack(std::span<std::byte> to) = 0;
  virtual void unpack(std::span<const std::byte> from) = 0;
};

/// Numbers in memory of a device, which outlives them.
struct DeviceFloats {
  DeviceMemory memory;
  std::span<float> floats;
};

/// One rank's device. Called by one thread at a time. Work is enqueued by the calls and done in their order; spans lie
/// in memory that this device can reach. \throws Error (environment) where the device fails, maybe in a later call.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// Aligned to a cache line; its content is undefined. \throws Error (environment) when there is not enough.
  virtual DeviceMemory allocate(std::size_t bytes) = 0;

  /// The functions of `arithmetic.hpp`, on memory of this device.
  virtual void accumulate(DataType type, ReduceOp op, std::span<const std::byte> in, std::span<std::byte> inout) = 0;
  virtual void fill_neutral(DataType type, ReduceOp op, std::span<std::byte> buffer) = 0;
  virtual void finish(DataType type, ReduceOp op, int workers, std::span<std::byte> buffer) = 0;
  virtual void keep_rest(std::span<const float> whole, std::span<float> part) = 0;
  virtual void change(const NumbersChange& by, std::span<float> numbers) = 0;

  /// The codec of `choice` on memory that this device can reach; the host's is the choice's own. On a device that does
  /// its work later it encodes to exactly `max_wire_bytes`, so that no caller waits for a length. The device outlives
  /// it. Null where there is none.
  virtual std::shared_ptr<const Codec> codec_of(const CompressorChoice& choice) = 0;
  /// What low-rank compressors need. The device outlives it. Null where there is none.
  virtual std::unique_ptr<LowRankProducts> low_rank_products() = 0;

  /// \pre equal sizes; no overlap.
  virtual void copy(std::span<const std::byte> from, std::span<std::byte> to) = 0;

  /// For copying all of `parts` to or from one buffer, one behind the other; made once, used often. The parts' memory
  /// outlives it. The default copies them one by one.
  virtual std::unique_ptr<Packing> packing(std::span<const std::span<std::byte>> parts);

  /// Copies between host and device. Returns when the copy, and all work enqueued before it, is done.
  virtual void write(std::span<const std::byte> host, std::span<std::byte> to) = 0;
  virtual void read(std::span<const std::byte> from, std::span<std::byte> host) = 0;

  /// Records an event after all work enqueued so far.
  virtual Event record_event() = 0;
  /// The same, for `elapsed`; costs a little more.
  virtual Event record_timed_event() = 0;
  /// The time between two events, both recorded by `record_timed_event` of this device; waits until both completed.
  virtual Seconds elapsed(const Event& begin, const Event& end) = 0;
  /// Makes work enqueued from now on wait for `event`, which may be of another device of the same kind. Never blocks.
  virtual void wait(const Event& event) = 0;
  /// Whether `event`, of a device of this kind, has completed. Never blocks.
  virtual bool query(const Event& event) = 0;
};

/// Returns once all work enqueued on `device`, or all before `event`, is done. \throws Error (environment) where the
/// device has failed.
void synchronize(Device& device);
void synchronize(Device& device, const Event& event);
/// The same for destructors that free memory which enqueued work uses. Returns at once where the device has failed: the
/// caller that met the failure first has reported it.
void synchronize_noexcept(Device& device) noexcept;
void synchronize_noexcept(Device& device, const Event& event) noexcept;

/// Zeros, which are there when it returns.
DeviceFloats make_floats(Device& device, std::size_t count);
/// Numbers in a device's memory, as a piece of a state.
void walk_floats(StateWalk& state, std::string_view name, Device& device, std::span<float> floats);

/// Host memory: work is done within the call. It has no state; any number of threads may share it.
Device& host_device();
/// The same device, as a shared pointer that owns nothing.
std::shared_ptr<Device> shared_host_device();

}  // namespace hbench
