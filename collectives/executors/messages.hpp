#pragma once

/// A rank's plan worked out for one element count and compressor: which bytes go where. Internal to the
/// executors.

#include <cstddef>
#include <vector>

#include "collectives/compressors/compressor.hpp"
#include "collectives/executors/rank_program.hpp"

namespace hbench {

/// One message of one rank. Its bytes lie in the buffer, or in staging memory from `offset` on.
struct Message {
  Rank peer = 0;
  ElementRange range;
  TransferKind kind = TransferKind::copy;
  std::size_t bytes = 0;   ///< on the wire
  bool staged = false;     ///< travels from, or arrives in, staging memory
  std::size_t offset = 0;  ///< in staging memory
  /// A send that must be encoded first; false where an equal send of the round did it, or nothing is encoded.
  bool encodes = false;
  /// A send after which this rank, too, continues with what the receiver decodes.
  bool settles = false;
  /// A receive that may change the buffer only once this round's sends have left.
  bool after_sends = false;
};

/// One round in which this rank moves something.
struct MessageRound {
  int round = 0;
  std::vector<Message> sends;
  std::vector<Message> receives;
  std::size_t staging = 0;  ///< bytes
};

/// The rounds of `plan` for a buffer of `elements` elements of `element_size` bytes, encoded by `codec` or, where it is
/// null, travelling as they are. Messages without elements are dropped; the peer drops them too.
///
/// Lossy compressors: a worker must end with the very bits its peers end with, so whoever sends a *copy* keeps
/// the decoded form of what it sent, and so do two ranks that exchange *reduces* of one chunk (each then adds
/// the same two numbers). A chunk that has settled so stays settled until something is added to it; encoding
/// what was decoded changes nothing.
std::vector<MessageRound> lay_out(const RankPlan& plan, const Codec* codec, std::int64_t elements,
                                  std::size_t element_size);

}  // namespace hbench
