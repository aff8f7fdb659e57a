#pragma once

/// One way to do one collective, on one rank: what the measuring loop repeats.

#include <memory>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/worker/peer.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/exchange/exchange.hpp"

namespace hbench {

/// Whether one of our executors runs it, and no other library.
bool is_ours(const Case& asked);

/// Sent by the busiest rank of an uncompressed collective.
std::int64_t plain_bytes_of(const Schedule& schedule, std::int64_t elements, std::int64_t element_size);
/// The elements of each worker's part of a buffer. A schedule decides; a library takes equal parts.
std::vector<ElementRange> parts_of(const Schedule* schedule, int workers, std::int64_t elements);

/// What a candidate works with.
struct CandidateTools {
  Endpoint& endpoint;
  std::span<std::byte> buffer;
  PeerLibraries* peers = nullptr;  ///< null where there are none
  CodecTimes* times = nullptr;     ///< where it is given, coding is timed, which takes time itself
};

/// Made on all ranks in the same order. Outlives none of its tools.
class Candidate {
 public:
  /// `tensors`: elements of the buffers that travel one after another; together they are the buffer.
  /// \throws Error (usage) for what this endpoint or library cannot do.
  Candidate(const Case& asked, std::span<const std::int64_t> tensors, const CandidateTools& tools);

  /// Does the collective once. \throws Error (lost_rank) after `timeout`.
  void run(Seconds timeout);

  const std::vector<ElementRange>& parts() const { return parts_; }
  const CompressorChoice& compressor() const { return compressor_; }
  /// Sent by the busiest rank in one run without the compressor; 0 of a library's own.
  std::int64_t plain_bytes() const { return plain_bytes_; }

 private:
  void add(const Case& asked, const Operand& operand, const CandidateTools& tools);

  CompressorChoice compressor_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<ElementRange> parts_;
  std::int64_t plain_bytes_ = 0;
  std::string what_;  ///< for messages
  bool used_ = false;
};

}  // namespace hbench
