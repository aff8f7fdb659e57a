// Fully sharded training: the units of a model, and steps in closed form.

#include <gmock/gmock.h>

#include "tests/collectives/clusters.hpp"
#include "workloads/methods/plan_check.hpp"
#include "workloads/simulation/step_simulator.hpp"
#include "workloads/step/model_units.hpp"

namespace hbench {
namespace {

using ::testing::ElementsAre;

StepTimeline timeline_of(std::vector<GradientEvent> gradients) {
  return {.forward = Seconds(0.010), .backward = Seconds(0.020), .gradients = std::move(gradients)};
}

TEST(ModelUnits, AreTheBlocksOfATransformerInTheOrderOfItsForwardPass) {
  const StepTimeline timeline = timeline_of({{"ln_f.bias", 8},
                                             {"h11.mlp.fc.weight", 1000},
                                             {"h11.ln_1.bias", 10},
                                             {"h10.mlp.fc.weight", 1000},
                                             {"h10.ln_1.bias", 10},
                                             {"wpe", 1000},
                                             {"wte", 5000}});
  EXPECT_THAT(model_units(timeline), ElementsAre(ElementsAre(5, 6), ElementsAre(3, 4), ElementsAre(0, 1, 2)))
      << "the last norm is a part of the last block";
}

TEST(ModelUnits, AreToldApartByTheirFirstNumber) {
  const StepTimeline timeline = timeline_of({{"output.weight", 900},
                                             {"layers.1.attention.2.weight", 700},
                                             {"layers.1.attention.1.weight", 500},
                                             {"layers.0.attention.1.weight", 500},
                                             {"tok_embeddings.weight", 900}});
  EXPECT_THAT(model_units(timeline), ElementsAre(ElementsAre(4), ElementsAre(3), ElementsAre(1, 2), ElementsAre(0)));
}

TEST(ModelUnits, HaveNoneThatIsMuchSmallerThanTheOthers) {
  const StepTimeline timeline = timeline_of(
      {{"b2.weight", 1000}, {"b1.weight", 1000}, {"norm", 2}, {"scale1", 3}, {"b0.weight", 1000}, {"in", 1}});
  EXPECT_THAT(model_units(timeline), ElementsAre(ElementsAre(2, 3, 4, 5), ElementsAre(1), ElementsAre(0)));
}

TEST(ModelUnits, AreOneWhereNamesSayNothing) {
  EXPECT_THAT(model_units(timeline_of({{"c", 1}, {"b", 2}, {"a", 3}})), ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_TRUE(model_units(timeline_of({})).empty());
}

TEST(Fsdp, IsProvedForAnyNumberOfUnits) {
  for (const char* method : {"fsdp", "fsdp-keep"})
    for (const int units : {1, 2, 3, 7})
      EXPECT_EQ(prove_plan(parse_method(method).plan(true, std::vector<std::vector<int>>(units))).refusal, "")
          << method << ", " << units << " units";
}

// What a broken one would do: compute with parameters that are no longer there.
TEST(Fsdp, IsRefusedWhereAPassReadsParametersThatWereFreed) {
  StepPlan plan = parse_method("fsdp").plan(true);
  for (Task& task : plan.tasks)
    if (!task.computes() && task.collective == CollectiveKind::all_gather) task.frees = true;
  EXPECT_EQ(prove_plan(plan).refusal, "task 6 (backward of unit 2) reads parameters that rank 0 has freed");
}

/// A step of three blocks on two nodes of the round cluster, on which an all-gather or a reduce-scatter of n elements
/// takes 1 ms and half a millisecond per 1000. The backward pass of the blocks takes 5, 5 and 10 ms, and the forward
/// pass half of that.
StepTimes step_of(const char* method, double gathered = 1) {
  StepTimeline timeline =
      timeline_of({{"h2.w", 1000, Seconds(0.005)}, {"h1.w", 2000, Seconds(0.010)}, {"h0.w", 3000, Seconds(0.020)}});
  timeline.update = Seconds(0.004);
  timeline.gathered = gathered;
  const TrainingStrategy strategy{
      .method = parse_method(method), .algorithm = parse_algorithm_rule("ring"), .fusion = parse_fusion("none")};
  const StepTimes times = StepSimulator(testing::round_cluster(), {.workers = 2}).run(timeline, strategy);
  const Seconds sum = times.compute + times.straggler + times.slowdown + times.exposed + times.update;
  EXPECT_NEAR(sum.value, times.step.value, 1e-12) << "the parts do not add up";
  return times;
}

constexpr double kTolerance = 1e-12;

// Gathers of blocks 0 and 1 from 0 to 2.5 and 4.5 ms; forward passes from 2.5 to 7.5, 10 and 12.5, with the gather of
// block 2 from 7.5 to 9. Backward passes to 17.5, 22.5 and 32.5 ms, beside which blocks 1 and 0 are gathered again and
// gradients scattered; the last ones from 32.5 to 35. Then half of the update.
TEST(Fsdp, WaitsForTheFirstGatherAndTheLastScatterAlone) {
  const StepTimes times = step_of("fsdp");
  EXPECT_NEAR(times.step.value, 0.0025 + 0.030 + 0.0025 + 0.002, kTolerance);
  EXPECT_NEAR(times.exposed.value, 0.005, kTolerance);
  EXPECT_NEAR(times.communication.value, (2.5 + 2 + 1.5 + 2 + 2.5 + 1.5 + 2 + 2.5) / 1e3, kTolerance);
  EXPECT_EQ(times.buckets, 8) << "the last block stays until its backward pass";
}

TEST(Fsdp, ThatKeepsWhatItHasGatheredGathersOnce) {
  const StepTimes times = step_of("fsdp-keep");
  EXPECT_NEAR(times.communication.value, 2 * (2.5 + 2 + 1.5) / 1e3, kTolerance);
  EXPECT_EQ(times.buckets, 6);
}

TEST(Fsdp, GathersInTheTypeThatPassesComputeIn) {
  const StepTimes times = step_of("fsdp-keep", 0.5);
  EXPECT_NEAR(times.communication.value, (1.75 + 1.5 + 1.25 + 2.5 + 2 + 1.5) / 1e3, kTolerance);
}

}  // namespace
}  // namespace hbench
