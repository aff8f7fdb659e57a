#pragma once

/// One way to do one collective, on one rank: what the measuring loop repeats.

#include <memory>
#include <string>
#include <vector>

#include "analysis/records.hpp"
#include "bench/peers/peer.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/executors/endpoint.hpp"

namespace hbench {

/// What travels, of the busiest rank, in one collective.
struct Traffic {
  std::int64_t wire_bytes = 0;   ///< sent
  std::int64_t plain_bytes = 0;  ///< what would be sent without a compressor
  std::int64_t encoded = 0;      ///< elements; equal sends of one round are encoded once
  std::int64_t decoded = 0;      ///< elements received
};

/// Counted on the schedule; per-hop encodings.
Traffic traffic_of(const Schedule& schedule, const Encoding& encoding, std::int64_t elements);

/// The world that a collective's case runs in.
World world_of_collective(const Case& asked);
/// The all-reduce of a rule for these bytes, or the algorithm of another goal. \pre no peer.
AlgorithmChoice algorithm_of(const Case& asked, std::int64_t bytes);
/// With as many segments as asked for, or as the algorithm chooses. \pre not opaque.
Schedule schedule_of(const Case& asked, const AlgorithmChoice& algorithm, std::int64_t elements);
/// The elements of each worker's part of a buffer. A schedule decides; a library takes equal parts.
std::vector<ElementRange> parts_of(const Schedule* schedule, int workers, std::int64_t elements);

/// Made on all ranks in the same order. Outlives neither its endpoint nor the buffer.
class Contender {
 public:
  /// `tensors`: elements of the buffers that travel one after another; together they are `buffer`. `peers` may be null.
  /// \throws Error (usage) for what this endpoint or library cannot do.
  Contender(const Case& asked, std::span<const std::int64_t> tensors, Endpoint& endpoint, std::span<std::byte> buffer,
            PeerLibraries* peers);

  /// Does the collective once. \throws Error (lost_rank) after `timeout`.
  void run(Seconds timeout);

  const std::vector<ElementRange>& parts() const { return parts_; }
  const CompressorChoice& compressor() const { return compressor_; }
  /// None of a library's own.
  const std::optional<Traffic>& traffic() const { return traffic_; }

 private:
  void add(const Case& asked, const Operand& operand, Endpoint& endpoint, PeerLibraries* peers);

  CompressorChoice compressor_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<ElementRange> parts_;
  std::optional<Traffic> traffic_;
  std::string what_;  ///< for messages
  bool used_ = false;
};

}  // namespace hbench
