#include "bench/sweep/plan.hpp"

#include "analysis/records/fingerprint.hpp"
#include "tests/bench/plan_example.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::measured_plan_test {
namespace {

TEST(MeasuredPlan, MeasuresEveryMethodThatTheEngineTrainsBy) {
  SweepRequest request = small_request();
  request.methods = {"local-sgd:4", "zero:1"};
  request.gpus = {2};
  request.evidence = {Evidence::measured};
  EXPECT_THAT(names(plan_of(request)),
              ElementsAre("resnet50 1 none", "resnet50 2 ring, local-sgd:4", "resnet50 2 ring, zero:1"));
}

TEST(MeasuredPlan, MeasuresShardedOptimizersWithBucketsThatStay) {
  SweepRequest request = small_request();
  request.gpus = {2};
  request.methods = {"zero:1"};
  request.optimizer = parse_optimizer("adam");
  request.evidence = {Evidence::measured};
  EXPECT_THAT(names(plan_of(request)), ElementsAre("resnet50 1 none", "resnet50 2 ring, zero:1, no fusion"));
  request.fusions = {"horovod"};
  EXPECT_THAT(refusals(plan_of(request)), Contains(HasSubstr("the buckets of horovod change")));
}

TEST(MeasuredPlan, MeasuresABaselineOfEachShareOfAGlobalBatch) {
  SweepRequest request = small_request();
  request.evidence = {Evidence::measured};
  request.workloads = {"lenet5"};
  request.gpus = {1, 2};
  request.global_batch = 64;
  request.accumulate = 2;
  std::multiset<std::pair<int, int>> batches;  // GPUs of a case and samples of each
  for (const Case& asked : plan_of(request).cases) {
    EXPECT_EQ(asked.accumulate, 2);
    batches.emplace(asked.strategy.communicates() ? asked.gpus : 0, asked.batch_per_gpu);
  }
  EXPECT_EQ(batches, (std::multiset<std::pair<int, int>>{{0, 32}, {0, 64}, {1, 64}, {2, 32}}));
}

TEST(MeasuredPlan, MeasuresTheBaselineFirstForEveryModel) {
  SweepRequest request = small_request();
  request.gpus = {2};
  request.workloads = {"resnet50", "lenet5"};
  request.evidence = {Evidence::measured};
  const Plan plan = plan_of(request);
  EXPECT_THAT(names(plan), ElementsAre("resnet50 1 none", "resnet50 2 ring", "lenet5 1 none", "lenet5 2 ring"));
  EXPECT_THAT(refusals(plan), IsEmpty());
  EXPECT_EQ(plan.cases[0].asked.implementation, kEngineRevision);
  EXPECT_EQ(plan.cases[0].asked.source, "this machine's CPU cores, LibTorch, synthetic images");
}

TEST(MeasuredPlan, MeasuresTheBaselineWhenEveryCountIsTooLarge) {
  SweepRequest request = small_request();
  request.evidence = {Evidence::measured};
  request.gpus = {4, 8};
  const Plan plan = plan_of(request);
  EXPECT_THAT(names(plan), ElementsAre("resnet50 1 none"));
  EXPECT_THAT(refusals(plan), ElementsAre("measured with 4, 8 ranks: this machine has 2 cores; --oversubscribe N "
                                          "measures up to N ranks"));
}

TEST(MeasuredPlan, MeasuresMoreRanksThanCoresOnlyWhenAskedTo) {
  SweepRequest request = small_request();
  request.evidence = {Evidence::measured};
  request.gpus = {4, 8};
  LocalMachine machine = machine_of_two();
  machine.ranks = 4;
  machine.asked_for = true;
  const Plan plan = plan_of(request, machine);
  EXPECT_THAT(names(plan), ElementsAre("resnet50 1 none", "resnet50 4 ring"));
  EXPECT_THAT(refusals(plan), ElementsAre("measured with 8 ranks: --oversubscribe 4 allows no more"));
}

TEST(MeasuredPlan, CountsServersAmongTheProcessesThatNeedACore) {
  SweepRequest request = small_request();
  request.evidence = {Evidence::measured};
  request.gpus = {1, 2};
  request.algorithms = {"ps"};
  const Plan plan = plan_of(request);
  EXPECT_THAT(names(plan), ElementsAre("resnet50 1 none", "resnet50 1 ps (greedy, dedicated)"));
  EXPECT_THAT(refusals(plan), ElementsAre(AllOf(HasSubstr("measured on 2 ranks"), HasSubstr("3 processes"),
                                                HasSubstr("2 cores"), HasSubstr("--oversubscribe N"))));
  request.servers = {{.colocated = true, .count = 0}};
  EXPECT_THAT(names(plan_of(request)), Contains("resnet50 2 ps (greedy, colocated)"))
      << "a server that shares its worker's core";
}

TEST(MeasuredPlan, SaysOfACaseThatItHasMoreProcessesThanCores) {
  SweepRequest request = small_request();
  request.evidence = {Evidence::measured};
  request.gpus = {2};
  request.algorithms = {"ring", "ps"};
  LocalMachine machine = machine_of_two();
  machine.ranks = 3;
  machine.asked_for = true;
  const Plan plan = plan_of(request, machine);
  ASSERT_THAT(names(plan), ElementsAre("resnet50 1 none", "resnet50 2 ring", "resnet50 2 ps (greedy, dedicated)"));
  EXPECT_THAT(plan.cases[1].asked.source, Not(HasSubstr("oversubscribed")));
  EXPECT_THAT(plan.cases[2].asked.source, HasSubstr("oversubscribed: 3 processes on 2 cores"));
}

TEST(MeasuredPlan, RefusesWhatCannotBeMeasuredHereAndDoesTheRest) {
  SweepRequest request = small_request();
  request.evidence = {Evidence::measured, Evidence::simulated};
  LocalMachine machine = machine_of_two();
  machine.no_training = "built without LibTorch; install it";
  const Plan plan = plan_of(request, machine);
  EXPECT_THAT(names(plan), ElementsAre("resnet50 1 ring", "resnet50 8 ring"));
  EXPECT_THAT(refusals(plan), ElementsAre("measured runs: built without LibTorch; install it"));
}

}  // namespace
}  // namespace hbench::measured_plan_test
