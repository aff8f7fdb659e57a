#pragma once

/// Ranks that are threads of the test.

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "collectives/executors/shared_endpoint.hpp"
#include "collectives/executors/shared_segment.hpp"

namespace hbench::testing {

using Endpoints = std::vector<std::unique_ptr<Endpoint>>;

/// Runs `rank` for every endpoint at once; a failure of any fails the test.
inline void run_ranks(Endpoints& endpoints, const std::function<void(Endpoint&)>& rank) {
  std::vector<std::exception_ptr> failures(endpoints.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < endpoints.size(); ++i)
      threads.emplace_back([&, i] {
        try {
          rank(*endpoints[i]);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& failure : failures) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
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

}  // namespace hbench::testing
