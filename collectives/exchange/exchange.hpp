#pragma once

/// Collectives with any algorithm, compressor, type and operation: the one way to make one.

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/low_rank.hpp"
#include "collectives/endpoints/endpoint.hpp"

namespace hbench {

/// Why this combination makes no sense, for a person; empty when it does. Whether the transport can do it (a vendor
/// collective between threads, say) is checked by its endpoint.
std::string refuse_exchange(const AlgorithmChoice& algorithm, const CompressorChoice& compressor, DataType type,
                            ReduceOp op, const World& world);

/// Why `device` cannot do what the compressor needs, for a person; empty when it can.
std::string refuse_device(Device& device, const CompressorChoice& compressor);

/// What one rank carries from step to step for one buffer: residual, momentum, factors, and which step it is.
struct ExchangeMemory {
  /// For a buffer of `elements` on `device`, which outlives the memory. Ranks give the same `seed`.
  /// \pre `refuse_device` refuses nothing.
  ExchangeMemory(const CompressorChoice& compressor, std::int64_t elements, std::uint64_t seed = 1,
                 Device& device = host_device());

  Device& device;
  std::uint64_t seed;
  std::int32_t step = 0;  ///< exchanges begun
  std::unique_ptr<GradientMemory> gradient;
  std::optional<LowRankState> factors;  ///< of low-rank compressors
};

/// The total time that one rank has spent on encoding and decoding.
struct CodecTimes {
  Seconds encode{0};
  Seconds decode{0};
};

struct ExchangeRequest {
  World world;
  AlgorithmChoice algorithm;  ///< its collective is the one that is run
  CompressorChoice compressor;
  Operand operand;
  int segments = 0;  ///< 0: what the algorithm says for this buffer
  std::span<const Shard> shards = {};
  /// On the device that the operand is on. Null: the operation has its own, which is kept through restarts.
  std::shared_ptr<ExchangeMemory> memory = nullptr;
  /// Where times are added up, which takes time itself; null: they are not measured. Work that a device does later is
  /// not included. Outlives the operation.
  CodecTimes* times = nullptr;
};

/// This rank's part of the collective; nothing moves before the first `progress`. All ranks prepare their exchanges in
/// the same order. The operand's memory outlives the operation. Every worker ends with the same bits. Where the operand
/// is on a device that does its work later, everything is enqueued there, and nothing waits for it. \throws Error
/// (usage) for what `refuse_exchange` or `refuse_device` refuses, and for operands that do not fit.
std::unique_ptr<Operation> prepare_exchange(Endpoint& endpoint, const ExchangeRequest& request);

}  // namespace hbench
