#pragma once

/// What `prepare_exchange` is asked for, and what a rank keeps from one exchange of a buffer to the next.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/arithmetic/operand.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/low_rank.hpp"
#include "collectives/device/device.hpp"
#include "collectives/schedule/rank_groups.hpp"

namespace hbench {

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
  /// Of the part that this rank adds up, where the sum is encoded as well; made by the first exchange.
  std::unique_ptr<GradientMemory> sum = nullptr;
  std::optional<LowRankState> factors;  ///< of low-rank compressors
};

/// The total time that one rank has spent on encoding and decoding.
struct CodecTimes {
  Seconds encode{0};
  Seconds decode{0};
};

/// One rank's part in a collective: among whom, in which way and on which memory.
struct ExchangeRequest {
  World world;
  RankGroups groups = {};     ///< of the world's workers: the collective is within each of them at once
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

  /// That of a group.
  World among() const { return groups.all() ? world : World{.workers = groups.size_among(world.workers)}; }
};

}  // namespace hbench
