#pragma once

/// Collectives with any algorithm, compressor, type and operation: the one way to make one.
///
/// What `prepare_exchange` is asked for, and what a rank keeps from one exchange of a buffer to the next.
///
/// The kinds of exchange, one file each. Internal to `exchange/`.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/low_rank.hpp"
#include "collectives/device/device.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// What one rank carries from step to step for one buffer: residual, momentum, factors, and which step it is.
struct ExchangeMemory {
  /// For a buffer of `elements` on `device`, which outlives the memory. Ranks give the same `seed`.
  /// \pre `refuse_device` refuses nothing.
  ExchangeMemory(const CompressorChoice& compressor, std::int64_t elements, std::uint64_t seed = 1,
                 Device& device = host_device());

  /// \param compressor as it was made with
  void walk(StateWalk& state, const CompressorChoice& compressor);

  Device& device;
  std::uint64_t seed;
  std::int32_t step = 0;  ///< exchanges begun
  std::unique_ptr<GradientMemory> gradient;
  /// Of the part that this rank adds up, where the sum is encoded as well; made by the first exchange.
  std::unique_ptr<GradientMemory> sum = nullptr;
  std::int64_t sum_elements = 0;        ///< of that part; 0 before it is made
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

/// Returns why this combination is invalid, for a person; an empty string when it is valid. Whether the transport can
/// do it (a vendor collective between threads, say) is checked by its endpoint.
std::string refuse_exchange(const AlgorithmChoice& algorithm, const CompressorChoice& compressor, DataType type,
                            ReduceOp op, const World& world);

/// Why `device` cannot do what the compressor needs, for a person; empty when it can.
std::string refuse_device(Device& device, const CompressorChoice& compressor);

/// Returns the elements of `buffer` that this rank is left with by a reduce-scatter, or brings to an all-gather, of an
/// exchange with as many segments as the algorithm says. \pre a vendor's library gets equal parts.
ElementRange own_part(Endpoint& endpoint, const AlgorithmChoice& algorithm, const World& world,
                      const RankGroups& groups, std::span<const float> buffer);

/// This rank's part of the collective; nothing moves before the first `progress`. All ranks prepare their exchanges in
/// the same order. The operand's memory outlives the operation. Every worker ends with the same bits. Where the operand
/// is on a device that does its work later, everything is enqueued there, and nothing waits for it. \throws Error
/// (usage) for what `refuse_exchange` or `refuse_device` refuses, and for operands that do not fit.
std::unique_ptr<Operation> prepare_exchange(Endpoint& endpoint, const ExchangeRequest& request);

/// The schedule for a buffer of `bytes`, with as many segments as requested or, where none are, as `algorithm` says.
/// Valid until the endpoint's cache is asked for another.
inline const Schedule& schedule_of(Endpoint& endpoint, const ExchangeRequest& request, const AlgorithmChoice& algorithm,
                                   std::size_t bytes, std::span<const Shard> shards = {}) {
  const int segments =
      request.segments > 0 ? request.segments : algorithm.segments(request.among(), static_cast<std::int64_t>(bytes));
  return endpoint.schedules().of(algorithm, request.world, segments, shards, request.groups);
}

/// The all-gather of the same name as an all-reduce; none where there is none.
std::optional<AlgorithmChoice> all_gather_of(const AlgorithmChoice& algorithm);

/// Every rank encodes its gradient once; the encodings are all-gathered, decoded and added in rank order. The first is
/// for host memory, where lengths may vary; the second for devices, where they do not.
/// \pre the algorithm has an `all_gather_of`; `request.memory` is not null.
std::unique_ptr<Operation> prepare_gather(Endpoint& endpoint, const ExchangeRequest& request);
std::unique_ptr<Operation> prepare_fixed_gather(Endpoint& endpoint, const ExchangeRequest& request);
/// Every rank adds up one part of the buffer, to which all others send it encoded; the encoded sums are all-gathered.
/// Both sides have error feedback. \pre as above
std::unique_ptr<Operation> prepare_both_sides(Endpoint& endpoint, const ExchangeRequest& request);
/// Two all-reduces of small factors. \pre `request.memory` has factors.
std::unique_ptr<Operation> prepare_low_rank(Endpoint& endpoint, const ExchangeRequest& request);
/// Every transfer is encoded by its sender and decoded by its receiver.
std::unique_ptr<Operation> prepare_per_hop(Endpoint& endpoint, const ExchangeRequest& request);

/// A codec that adds the times of `codec` to `times`, which outlives it; `codec` itself where `times` is null.
std::shared_ptr<const Codec> timed(std::shared_ptr<const Codec> codec, CodecTimes* times);

/// Adds its own lifetime to `sum`, unless that is null.
class Stopwatch {
 public:
  explicit Stopwatch(Seconds* sum) : sum_(sum) {
    if (sum_ != nullptr) begin_ = std::chrono::steady_clock::now();
  }
  ~Stopwatch() {
    if (sum_ == nullptr) return;
    *sum_ += Seconds(seconds_since(begin_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  Seconds* sum_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace hbench
