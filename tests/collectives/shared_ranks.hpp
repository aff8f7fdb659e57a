#pragma once

/// Ranks that are threads of the test, on hosts whose ranks share memory.

#include <memory>
#include <vector>

#include "collectives/endpoints/shared_endpoint.hpp"
#include "collectives/transport/shared_memory.hpp"
#include "tests/collectives/thread_ranks.hpp"

namespace hbench::support {

/// Ranks of one host; `part` bytes of shared buffers for each.
inline Endpoints make_shared_thread_endpoints(int ranks, std::size_t part) {
  const auto memory = std::make_shared<SharedMemory>(SharedMemory::for_threads(SharedSegment::bytes(ranks, part)));
  Endpoints endpoints;
  for (Rank rank = 0; rank < ranks; ++rank)
    endpoints.push_back(make_shared_endpoint(memory, Hosts::only(ranks, rank), nullptr));
  return endpoints;
}

/// `hosts` times `ranks_per_host` ranks; those of one host share memory, hosts exchange messages between threads.
inline Endpoints make_hosts(int hosts, int ranks_per_host, std::size_t part) {
  const int ranks = hosts * ranks_per_host;
  Endpoints outer = make_thread_endpoints(ranks);
  Endpoints endpoints;
  for (int host = 0; host < hosts; ++host) {
    const auto memory =
        std::make_shared<SharedMemory>(SharedMemory::for_threads(SharedSegment::bytes(ranks_per_host, part)));
    for (int local = 0; local < ranks_per_host; ++local) {
      Hosts where{.rank = host * ranks_per_host + local,
                  .local = std::vector<Rank>(static_cast<std::size_t>(ranks), -1)};
      for (int peer = 0; peer < ranks_per_host; ++peer)
        where.local[static_cast<std::size_t>(host * ranks_per_host + peer)] = peer;
      endpoints.push_back(make_shared_endpoint(memory, where, std::move(outer[static_cast<std::size_t>(where.rank)])));
    }
  }
  return endpoints;
}

}  // namespace hbench::support
