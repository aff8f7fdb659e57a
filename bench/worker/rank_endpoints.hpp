#pragma once

#include <memory>
#include <string_view>

#include "collectives/endpoints/endpoint.hpp"

namespace hbench {

/// A rank's ways to the others, by the name of an executor. Ranks ask in the same order.
class RankEndpoints {
 public:
  virtual ~RankEndpoints() = default;
  /// For messages between ranks: the plainest there is, in host memory.
  virtual Endpoint& home() = 0;
  virtual Endpoint& of(std::string_view executor) = 0;
};

/// Those of a process that is one rank, made when first asked for; MPI's is there from the beginning. Executors of
/// other libraries say what they have to say by MPI. \throws Error (environment) without MPI.
std::unique_ptr<RankEndpoints> make_process_endpoints();

}  // namespace hbench
