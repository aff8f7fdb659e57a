#pragma once

/// Other libraries' collectives, to be measured beside ours in the same processes. Only the program `hbench_peers` has
/// any; `hbench` depends on none of them.

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "collectives/endpoints/endpoint.hpp"

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

}  // namespace hbench
