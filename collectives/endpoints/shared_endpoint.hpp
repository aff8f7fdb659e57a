#pragma once

/// Endpoints of ranks that share memory, alone or joined with another transport. Internal to the shared-memory
/// endpoints.

#include <memory>
#include <vector>

#include "collectives/endpoints/endpoint.hpp"
#include "collectives/transport/shared_memory.hpp"

namespace hbench {

/// Where the ranks of a job are, as one of them sees it.
struct Hosts {
  Rank rank = 0;            ///< in the job
  std::vector<Rank> local;  ///< by rank of the job: its number on this rank's host, or -1 when it is elsewhere

  int local_ranks() const;
  bool one() const { return local_ranks() == static_cast<int>(local.size()); }
  static Hosts only(int ranks, Rank rank);
};

/// `memory` is mapped by all ranks of the host and has been zero. `outer` (null: there is none) reaches ranks on other
/// hosts, runs the library's own collectives, and aborts.
std::unique_ptr<Endpoint> make_shared_endpoint(std::shared_ptr<SharedMemory> memory, const Hosts& hosts,
                                               std::unique_ptr<Endpoint> outer);

}  // namespace hbench
