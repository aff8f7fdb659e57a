// Steps of methods whose iterations are not all alike, or that divide the update.

#include <gtest/gtest.h>

#include "tests/workloads/simulated_step.hpp"

namespace hbench::simulated_methods_test {
namespace {

using namespace ::hbench::support;

TrainingStrategy with_method(const char* method, const char* fusion = "none", bool overlap = true) {
  TrainingStrategy strategy = ring(fusion, overlap);
  strategy.method = parse_method(method);
  return strategy;
}

// An all-reduce of all three takes 12 ms, once in four steps, after passes of 30 ms and an update of 2.
TEST(SimulatedMethod, OfLocalSgdHasTheMeanOfAPeriod) {
  StepTimeline timeline = three_tensors(5, 10, 15);
  timeline.update = Seconds(0.002);
  const StepTimes times = run_pair(round_cluster(), timeline, with_method("local-sgd:4"));
  EXPECT_NEAR(times.step.value, 0.030 + 0.002 + 0.012 / 4, kTolerance);
  EXPECT_NEAR(times.exposed.value, 0.012 / 4, kTolerance);
  EXPECT_NEAR(times.communication.value, 0.012 / 4, kTolerance);
  EXPECT_NEAR(times.update.value, 0.002, kTolerance);
  EXPECT_NEAR(times.alone.value, 0.032, kTolerance);
}

// The same, and in each period 3 numbers of each parameter are moved for deltas, and 6 by the outer Nesterov SGD.
TEST(SimulatedMethod, OfDilocoUpdatesOnceInAPeriodBeside) {
  StepTimeline timeline = three_tensors(5, 10, 15);
  timeline.update = Seconds(0.002);
  const StepTimes plain = run_pair(round_cluster(), timeline, with_method("diloco:4"));
  EXPECT_NEAR(plain.step.value, 0.030 + 0.002 + 0.012 / 4, kTolerance);
  timeline.memory_pass = Seconds(0.001);
  const StepTimes times = run_pair(round_cluster(), timeline, with_method("diloco:4"));
  EXPECT_NEAR(times.step.value, plain.step.value + 0.009 / 4, kTolerance);
  EXPECT_NEAR(times.update.value, 0.002 + 0.009 / 4, kTolerance);
  EXPECT_NEAR(times.exposed.value, 0.012 / 4, kTolerance);
}

// A bucket takes 2 ms, and 2 for each tensor: a fragment of all three 8, which is less than an iteration. Nothing waits
// for it one later. Two fragments take 6 and 4 ms, in the iteration that takes their deltas or beside the next.
TEST(SimulatedMethod, OfDilocoHidesExchangesBesideLaterIterations) {
  StepTimeline timeline = three_tensors(5, 10, 15);
  timeline.update = Seconds(0.002);
  const auto times = [&](const char* method) { return run_pair(round_cluster(), timeline, with_method(method)); };
  EXPECT_NEAR(times("diloco:4:1:1").step.value, 0.032, kTolerance);
  EXPECT_NEAR(times("diloco:4:1:1").exposed.value, 0, kTolerance);
  EXPECT_NEAR(times("diloco:4:1:1").communication.value, 0.008 / 4, kTolerance);
  EXPECT_NEAR(times("diloco:4:2").step.value, 0.032 + 0.010 / 4, kTolerance);
  EXPECT_NEAR(times("diloco:4:2:1").step.value, 0.032, kTolerance);
  EXPECT_NEAR(times("diloco:4:2:1").communication.value, 0.010 / 4, kTolerance);
  EXPECT_NEAR(times("diloco:4:2:1").alone.value, 0.032, kTolerance);
  timeline.memory_pass = Seconds(0.001);
  EXPECT_NEAR(times("diloco:4:2:1").update.value, 0.002 + 0.009 / 4, kTolerance);
  EXPECT_NEAR(times("diloco:4:2:1:0.5").update.value, 0.002 + 0.010 / 4, kTolerance);
}

TEST(SimulatedMethod, OfDilocoWaitsForWhatLaterIterationsDoNotHide) {
  StepTimeline timeline = three_tensors(1, 2, 3);
  timeline.forward = Seconds(0.001);
  timeline.backward = Seconds(0.003);
  const auto exposed = [&](const char* method) {
    return run_pair(round_cluster(), timeline, with_method(method)).exposed.value;
  };
  EXPECT_NEAR(exposed("diloco:8"), 0.012 / 8, kTolerance);
  EXPECT_NEAR(exposed("diloco:8:1:1"), (0.008 - 0.004) / 8, kTolerance);
  EXPECT_NEAR(exposed("diloco:8:1:2"), 0, kTolerance);
}

TEST(SimulatedMethod, OfPostLocalSgdIsThatOfLocalSgdOnceItHasStarted) {
  Profile profile = round_cluster();
  profile.straggler = 0.1;
  StepTimeline timeline = three_tensors(5, 10, 15);
  timeline.update = Seconds(0.002);
  for (const char* fusion : {"none", "ddp"}) {
    const StepTimes local = run_pair(profile, timeline, with_method("local-sgd:4", fusion));
    const StepTimes after = run_pair(profile, timeline, with_method("post-local-sgd:4:10", fusion));
    EXPECT_NEAR(after.step.value, local.step.value, kTolerance);
    EXPECT_NEAR(after.exposed.value, local.exposed.value, kTolerance);
    EXPECT_NEAR(after.communication.value, local.communication.value, kTolerance);
  }
}

TEST(SimulatedMethod, OfLocalSgdWithAPeriodOfOneHidesNothing) {
  const StepTimes once = run_pair(round_cluster(), three_tensors(5, 10, 15), with_method("local-sgd:1"));
  const StepTimes late = run_pair(round_cluster(), three_tensors(5, 10, 15), ring("none", false));
  EXPECT_NEAR(once.step.value, late.step.value, kTolerance);
}

// Who is slowest in one step seldom is in the next: of four steps together the deviation is twice that of one.
TEST(SimulatedMethod, OfLocalSgdWaitsForWhoIsSlowestInAWholePeriod) {
  Profile profile = round_cluster();
  profile.straggler = 0.1;
  const auto straggler = [&](const char* method) {
    return run_pair(profile, three_tensors(5, 10, 15), with_method(method)).straggler.value;
  };
  EXPECT_NEAR(straggler("local-sgd:1"), 0.030 * 0.1 * expected_largest_normal(2), kTolerance);
  EXPECT_NEAR(straggler("local-sgd:4"), straggler("local-sgd:1") / 2, kTolerance);
}

// Half of an all-reduce on two nodes is a reduce-scatter: 1.5, 2 and 2.5 ms, the last one from 25 to 27.5 of 30 ms.
// Then half of the update, and as long for the parameters.
TEST(SimulatedMethod, OfZeroGathersParametersAfterItsPartOfTheUpdate) {
  StepTimeline timeline = three_tensors(5, 10, 15);
  timeline.update = Seconds(0.004);
  const StepTimes times = run_pair(round_cluster(), timeline, with_method("zero:1"));
  EXPECT_NEAR(times.step.value, 0.030 + 0.002 + 0.006, kTolerance);
  EXPECT_NEAR(times.update.value, 0.002, kTolerance);
  EXPECT_NEAR(times.exposed.value, 0.006, kTolerance);
  EXPECT_NEAR(times.alone.value, 0.034, kTolerance);
  EXPECT_EQ(times.buckets, 6);
}

TEST(SimulatedMethod, OfZeroWaitsForGradientsBeforeItsUpdate) {
  StepTimeline timeline = three_tensors(5, 10, 20);
  timeline.update = Seconds(0.004);
  const StepTimes times = run_pair(round_cluster(), timeline, with_method("zero:2"));
  EXPECT_NEAR(times.step.value, 0.030 + 0.0025 + 0.002 + 0.006, kTolerance);
}

TEST(SimulatedMethod, OfZeroAndOfAnAllReduceMoveTheSameBytes) {
  for (const int workers : {2, 4, 8}) {
    const StepTimeline timeline = three_tensors(5, 10, 15);
    const StepTimes zero = run(round_cluster(), {.workers = workers}, timeline, with_method("zero:1", "none", false));
    const StepTimes whole = run(round_cluster(), {.workers = workers}, timeline, ring("none", false));
    EXPECT_NEAR(zero.communication.value, whole.communication.value, 1e-9) << workers << " workers";
  }
}

}  // namespace
}  // namespace hbench::simulated_methods_test
