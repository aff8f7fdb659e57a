#pragma once

// What the tests of simulated steps share: a step with three gradients, and its times on a cluster of round figures.

#include <gtest/gtest.h>

#include "tests/collectives/clusters.hpp"
#include "workloads/simulation/step_simulator.hpp"

namespace hbench::support {

/// On two nodes of the round cluster a ring of n elements takes two rounds of 1 ms and half the buffer each:
/// 2 ms and 1 ms per 1000 elements. The tensors below take 3, 4 and 5 ms.
inline StepTimeline three_tensors(double first_ms, double second_ms, double third_ms, double backward_ms = 20) {
  return {.batch = 3,
          .forward = Seconds(0.010),
          .backward = Seconds(backward_ms / 1e3),
          .gradients = {{"c", 1000, Seconds(first_ms / 1e3)},
                        {"b", 2000, Seconds(second_ms / 1e3)},
                        {"a", 3000, Seconds(third_ms / 1e3)}}};
}

inline TrainingStrategy ring(const char* fusion, bool overlap = true) {
  return {.algorithm = parse_algorithm_rule("ring"),
          .placement = nullptr,
          .fusion = parse_fusion(fusion),
          .overlap = overlap};
}

inline StepTimes run(const Profile& profile, const World& world, const StepTimeline& timeline,
                     const TrainingStrategy& strategy, double network_factor = 1) {
  const StepTimes times = StepSimulator(profile, world).run(timeline, strategy, network_factor);
  const Seconds sum = times.compute + times.straggler + times.slowdown + times.exposed + times.update;
  EXPECT_NEAR(sum.value, times.step.value, 1e-12) << "the parts do not add up";
  return times;
}

inline StepTimes run_pair(const Profile& profile, const StepTimeline& timeline, const TrainingStrategy& strategy) {
  return run(profile, {.workers = 2}, timeline, strategy);
}

inline constexpr double kTolerance = 1e-12;

}  // namespace hbench::support
