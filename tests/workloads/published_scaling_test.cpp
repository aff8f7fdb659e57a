#include <gtest/gtest.h>

#include <cmath>

#include "collectives/base/table.hpp"
#include "workloads/simulation/step_simulator.hpp"
#include "workloads/step/trace.hpp"

namespace hbench::published_scaling_test {
namespace {

struct Published {
  const char* profile;
  const char* workload;
  double efficiency;
};

/// Scaling efficiency of 16 GPUs of a profile, at the rate and batch that it states.
double efficiency(const Published& row, const World& world, const TrainingStrategy& strategy) {
  const Profile profile = ProfileLibrary(HBENCH_SOURCE_DIR "/cluster-profiles").load(row.profile);
  const Trace trace = TraceLibrary(HBENCH_SOURCE_DIR "/workloads/traces").load(row.workload);
  const GpuRate& rate = profile.rates.at(row.workload);
  const StepTimeline timeline = trace.timeline.rescaled(rate.samples_per_second, rate.batch);
  const StepTimes times = StepSimulator(profile, world).run(timeline, strategy);
  const Seconds sum = times.compute + times.straggler + times.slowdown + times.exposed;
  EXPECT_NEAR(sum.value, times.step.value, 1e-12 * times.step.value);
  return times.compute / times.step;
}

TrainingStrategy ring(const char* fusion) {
  return {
      .algorithm = parse_algorithm_rule("ring"), .placement = nullptr, .fusion = parse_fusion(fusion), .overlap = true};
}

// Horovod's README of 2017-09-05: images/s of 16 Pascal GPUs over 16 times those of one. No figure of the profiles
// was fitted to them.
TEST(PublishedScaling, HorovodsAllReducesAreMetWithinFivePoints) {
  constexpr Published kRows[] = {
      {"uber-p100-25gbe-tcp", "inception_v3", .9257}, {"uber-p100-25gbe-tcp", "resnet101", .8821},
      {"uber-p100-25gbe-tcp", "vgg16", .6249},        {"uber-p100-25gbe-roce", "inception_v3", .9406},
      {"uber-p100-25gbe-roce", "resnet101", .9140},   {"uber-p100-25gbe-roce", "vgg16", .8534},
  };
  double sum = 0;
  for (const Published& row : kRows) {
    const double simulated = efficiency(row, {.workers = 16}, ring("horovod-2018"));
    EXPECT_NEAR(simulated, row.efficiency, 0.12) << row.profile << ' ' << row.workload;
    sum += std::fabs(simulated - row.efficiency);
  }
  EXPECT_LE(sum / std::size(kRows), 0.05);
}

// Published: 0.0357. One tensor of 411 MB on one of four servers holds everybody up.
TEST(PublishedScaling, WholeTensorsOnServersCollapseForVgg16) {
  TrainingStrategy strategy = ring("none");
  strategy.algorithm = parse_algorithm_rule("ps");
  strategy.placement = &find_entry(placements(), "greedy", "placement");
  const World world{.workers = 16, .servers = 4, .colocated = true};
  const Published row{"uber-p100-25gbe-tcp", "vgg16", .0357};
  const double whole = efficiency(row, world, strategy);
  EXPECT_LT(whole, 0.10);
  strategy.placement = &find_entry(placements(), "sliced", "placement");
  EXPECT_GT(efficiency(row, world, strategy), 2 * whole);
}

}  // namespace
}  // namespace hbench::published_scaling_test
