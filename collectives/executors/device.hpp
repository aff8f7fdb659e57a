#pragma once

/// Where a rank's data lie, and what can be done to them there: host memory, or a GPU's.
///
/// A collective is issued in an order that its data dependencies allow, and each device does what it is told in that
/// order, perhaps later. Between devices order is kept by marks: who reads another rank's memory first waits for its
/// mark, and who wants to write what was read waits for the reader's.

#include <cstddef>
#include <memory>
#include <span>

#include "collectives/arithmetic/data_type.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

class Codec;
struct CompressorChoice;
class LowRankProducts;

/// A point in the work of a device. Null: it was passed before it was made, as always in host memory.
class DeviceMoment {
 public:
  virtual ~DeviceMoment() = default;
};
using Moment = std::shared_ptr<const DeviceMoment>;

/// Memory of a device, which may be gone before it; freed with its last owner, who sees to it that nothing uses it any
/// more. Its address means nothing to another kind of device.
using DeviceMemory = std::shared_ptr<std::byte>;

/// Tensors here and there, and a buffer that holds them all, as long as they are together.
class Packing {
 public:
  virtual ~Packing() = default;
  virtual void pack(std::span<std::byte> to) = 0;
  virtual void unpack(std::span<const std::byte> from) = 0;
};

/// One rank's. Called by one thread at a time. Work is done in the order of the calls; spans lie in memory that this
/// device can reach. \throws Error (environment) where the device fails, maybe in a later call.
class Device {
 public:
  virtual ~Device() = default;

  /// Aligned to a cache line; its content is undefined. \throws Error (environment) when there is not enough.
  virtual DeviceMemory allocate(std::size_t bytes) = 0;

  /// As those of `arithmetic.hpp`.
  virtual void accumulate(DataType type, ReduceOp op, std::span<const std::byte> in, std::span<std::byte> inout) = 0;
  virtual void fill_neutral(DataType type, ReduceOp op, std::span<std::byte> buffer) = 0;
  virtual void finish(DataType type, ReduceOp op, int workers, std::span<std::byte> buffer) = 0;
  virtual void keep_rest(std::span<const float> whole, std::span<float> part) = 0;

  /// The codec of `choice` on memory that this device can reach. The host's is the choice's own. That of a device which
  /// does its work later encodes to exactly `max_wire_bytes`, so that nobody has to wait for a length. Outlived by the
  /// device. Null where there is none.
  virtual std::shared_ptr<const Codec> codec_of(const CompressorChoice& choice) = 0;
  /// What low-rank compressors need. Outlived by the device. Null where there are none.
  virtual std::unique_ptr<LowRankProducts> low_rank_products() = 0;

  /// \pre equal sizes; no overlap.
  virtual void copy(std::span<const std::byte> from, std::span<std::byte> to) = 0;

  /// For copying all of `parts` to or from one buffer, one behind the other; made once, used often. The parts' memory
  /// outlives it. Here: a copy for each.
  virtual std::unique_ptr<Packing> packing(std::span<const std::span<std::byte>> parts);

  /// Between host and device. Return when it is done, with all work before it.
  virtual void write(std::span<const std::byte> host, std::span<std::byte> to) = 0;
  virtual void read(std::span<const std::byte> from, std::span<std::byte> host) = 0;

  /// After all work so far.
  virtual Moment mark() = 0;
  /// The same, for `between`; costs a little more.
  virtual Moment mark_time() = 0;
  /// The time from one moment to a later one, both by `mark_time` of this device; waits until they were passed.
  virtual Seconds between(const Moment& begin, const Moment& end) = 0;
  /// Work from now on begins after `mark`, which may be another device's of the same kind.
  virtual void wait(const Moment& mark) = 0;
  /// Whether `mark`, of a device of this kind, has been passed. Never blocks.
  virtual bool passed(const Moment& mark) = 0;
};

/// Returns once all work so far is done, or that before `moment`.
void drain(Device& device);
void drain(Device& device, const Moment& moment);
/// The same for destructors, which let go of memory that the device was told to use. A device that has failed is done;
/// what it failed of was said by whoever met it first.
void settle(Device& device) noexcept;
void settle(Device& device, const Moment& moment) noexcept;

/// Host memory: work is done within the call. Has no state; any number of threads may share it.
Device& host_device();
/// The same as a shared one.
std::shared_ptr<Device> shared_host_device();

}  // namespace hbench
