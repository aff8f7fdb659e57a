// Every preset is a strategy that can be simulated, with figures whose ends enclose them.

#include "workloads/presets/preset.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/collectives/clusters.hpp"
#include "workloads/simulation/step_simulator.hpp"

namespace hbench::presets_test {
namespace {

using namespace ::hbench::support;

StepTimeline two_tensors() {
  return {.batch = 1,
          .forward = Seconds(0.010),
          .backward = Seconds(0.020),
          .gradients = {{"b", 4'000'000, Seconds(0.005)}, {"a", 1'000, Seconds(0.020)}}};
}

TEST(EveryPreset, HasANameOfItsOwnASourceAndOrderedEnds) {
  std::set<std::string_view> names;
  for (const Preset* preset : presets()) {
    SCOPED_TRACE(preset->name);
    EXPECT_TRUE(names.insert(preset->name).second);
    EXPECT_FALSE(preset->summary.empty());
    EXPECT_FALSE(preset->citation.empty());
    EXPECT_GE(preset->overlap.better, preset->overlap.stated);
    EXPECT_GE(preset->overlap.stated, preset->overlap.worse);
    EXPECT_GT(preset->overlap.worse, 0);
    EXPECT_LE(preset->overlap.better, 1);
    for (const PresetFigure* cost :
         {&preset->per_bucket, &preset->per_step, &preset->coding_per_byte, &preset->coding_per_tensor}) {
      EXPECT_LE(cost->better, cost->stated);
      EXPECT_LE(cost->stated, cost->worse);
      EXPECT_FALSE(cost->source.empty());
    }
  }
  EXPECT_GE(names.size(), 8u);
}

TEST(EveryPreset, IsAStrategyWithAServerOnEachNodeWhereItHasServers) {
  for (const Preset* preset : presets()) {
    SCOPED_TRACE(preset->name);
    const TrainingStrategy strategy = strategy_of(*preset, 3);
    EXPECT_EQ(strategy.preset, preset);
    EXPECT_EQ(strategy.algorithm.uses_servers(), !preset->placement.empty());
    EXPECT_EQ(strategy.servers, preset->placement.empty() ? 0 : 3);
    EXPECT_EQ(strategy.colocated(), !preset->placement.empty());
    EXPECT_EQ(refuse_strategy(strategy, strategy.world(12, 4)), "");
  }
}

TEST(EveryPreset, IsSlowerAtItsWorseEnd) {
  const Profile cluster = round_cluster();
  for (const Preset* preset : presets()) {
    SCOPED_TRACE(preset->name);
    const TrainingStrategy strategy = strategy_of(*preset, 2);
    StepSimulator simulator(cluster, strategy.world(2, 1));
    const Seconds better = simulator.run(two_tensors(), strategy, 1, End::better).step;
    const Seconds stated = simulator.run(two_tensors(), strategy, 1, End::stated).step;
    const Seconds worse = simulator.run(two_tensors(), strategy, 1, End::worse).step;
    EXPECT_LE(better, stated);
    EXPECT_LT(stated, worse);
  }
}

}  // namespace
}  // namespace hbench::presets_test
