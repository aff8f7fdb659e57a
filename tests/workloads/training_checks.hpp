#pragma once

// What the tests of training with threads check, and with what.

#include <gtest/gtest.h>

#include <vector>

#include "tests/workloads/training_cases.hpp"

namespace hbench {

inline void expect_as_one_worker(const TrainingRequest& request) {
  const std::vector<float> expected = reference_parameters(request);
  const auto outcomes = on_all_ranks(make_thread_endpoints(request.world.ranks()),
                                     [&](Endpoint& endpoint) { return trained_parameters(request, endpoint); });
  for (int rank = 0; rank < request.world.ranks(); ++rank) {
    const auto& outcome = outcomes[static_cast<std::size_t>(rank)];
    EXPECT_EQ(outcome.failure, "") << "rank " << rank;
    if (rank >= request.world.workers) continue;
    EXPECT_LE(largest_difference(outcome.value, expected), tolerance(request)) << "rank " << rank;
    EXPECT_EQ(outcome.value, outcomes[0].value) << "rank " << rank;
  }
}

struct Variant {
  const char* algorithm;
  const char* placement;
  World world;
};

inline constexpr Variant kVariants[] = {
    {"ring", "greedy", {.workers = 1}},
    {"ring", "greedy", {.workers = 2}},
    {"ring", "greedy", {.workers = 3}},
    {"ps", "greedy", {.workers = 2, .servers = 1}},
    {"ps", "sliced", {.workers = 2, .servers = 2}},
    {"ps", "greedy", {.workers = 2, .servers = 2, .colocated = true}},
    {"ps", "sliced", {.workers = 3, .servers = 2, .colocated = true}},
    {"ps", "sliced", {.workers = 3, .servers = 1, .group = 3}},
};

/// The parameters that each rank ends with.
inline std::vector<std::vector<float>> parameters_of_all(const TrainingRequest& request) {
  const auto outcomes = on_all_ranks(make_thread_endpoints(request.world.ranks()),
                                     [&](Endpoint& endpoint) { return trained_parameters(request, endpoint); });
  std::vector<std::vector<float>> all;
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.failure, "");
    all.push_back(outcome.value);
  }
  return all;
}

// Adam divides by what may be small: with its usual epsilon a rounding of a gradient of 0 would be a step.
inline constexpr const char* kOptimizers[] = {"momentum", "nesterov:0.8", "adam:0.9:0.999:0.001",
                                              "adamw:0.9:0.999:0.001:0.1"};

/// A worker's replica whose parameters lie where a test reaches them.
struct OpenWorker {
  OpenWorker(const TrainingRequest& request, int rank) : replica(make_replica(request, rank)) {
    const GradientLayout layout = replica.record_layout();
    gradients.resize(static_cast<std::size_t>(layout.total()));
    parameters.resize(gradients.size());
    replica.lay_out(layout, {.gradients = gradients, .parameters = parameters});
  }

  std::vector<float> gradients, parameters;
  Replica replica;
};

}  // namespace hbench
