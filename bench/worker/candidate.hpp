#pragma once

/// One way to do one collective, on one rank: what the measuring loop repeats.
///
/// Other libraries' collectives, to be measured beside ours in the same processes. Only the program `hbench_peers` has
/// any; `hbench` depends on none of them.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/exchange/exchange.hpp"

namespace hbench {

/// One entry: an all-reduce of a library.
struct Peer {
  std::string_view library;    ///< in the place of an executor's name: `gloo`
  std::string_view algorithm;  ///< `ring-chunked`
  std::string_view summary;    ///< with the library's version
  /// Why it cannot do this, or empty when it can.
  std::string (*refuses)(DataType type, ReduceOp op);
};

/// The libraries of one process, connected to those of the other ranks. Made by all ranks together.
class PeerLibraries {
 public:
  virtual ~PeerLibraries() = default;
  /// The all-reduce of a peer, by its algorithm's name, in place on `operand`; can be restarted; its `progress` may
  /// block. All ranks make them in the same order. \throws Error (usage) for a peer that it does not know.
  virtual std::unique_ptr<Operation> make(std::string_view algorithm, const Operand& operand) = 0;
};

/// What a program has of them.
struct PeerSet {
  std::span<const Peer> peers = {};
  /// `timeout` bounds one collective. Null where there are none.
  std::unique_ptr<PeerLibraries> (*connect)(Endpoint& endpoint, Seconds timeout) = nullptr;
};

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
