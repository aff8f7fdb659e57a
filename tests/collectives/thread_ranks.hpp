#pragma once

/// Ranks that are threads of the test.

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "collectives/endpoints/endpoint.hpp"

namespace hbench::support {

using Endpoints = std::vector<std::unique_ptr<Endpoint>>;

/// Makes the other ranks give up, at their next look at what they wait for.
inline void stop_job(Endpoint& endpoint) {
  try {
    endpoint.abort(1);
  } catch (const std::exception&) {
    // That is how the call ends where ranks are threads.
  }
}

/// Runs `rank` for every endpoint at once. A rank that throws fails the test, and stops the others, who would wait for
/// it until their time-outs.
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
          stop_job(*endpoints[i]);
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

}  // namespace hbench::support
