// Fully sharded training: the units of a model, and steps in closed form.

#include <algorithm>

#include "tests/collectives/clusters.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/methods/plan_check.hpp"
#include "workloads/simulation/step_simulator.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench::fsdp_test {
namespace {

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
  for (const char* method : {"fsdp", "fsdp-keep", "hsdp:2"})
    for (const int units : {1, 2, 3, 7})
      for (const int micro_batches : {1, 2, 3}) {
        const StepPlan plan = parse_method(method).plan(
            true, {.units = std::vector<std::vector<int>>(units), .micro_batches = micro_batches});
        EXPECT_EQ(prove_plan(plan).refusal, "") << method << ", " << units << " units, " << micro_batches << " batches";
      }
}

// What a broken one would do: replicas that never meet, and gradients that are overwritten.
TEST(Fsdp, IsRefusedWhereReplicasAreNotAddedUp) {
  StepPlan plan = parse_method("hsdp:2").plan(true);
  for (Task& task : plan.tasks)
    if (!task.computes() && task.collective == CollectiveKind::all_reduce) task.groups = {.size = 1};
  EXPECT_EQ(prove_plan(plan, 2).refusal, "no task brings the gradient of rank 2 in iteration 0 to rank 0");
}

// Two neighbours have the parts of two ranks of four, and not the whole model to gather.
TEST(Fsdp, IsRefusedWhereNeighboursHaveNotSharedOutWhatTheyGather) {
  StepPlan plan = parse_method("fsdp").plan(true);
  EXPECT_EQ(prove_plan(plan, 4).refusal, "");
  const auto gather = std::ranges::find(plan.tasks, CollectiveKind::all_gather, &Task::collective);
  gather->groups = {.size = 2};
  EXPECT_EQ(prove_plan(plan, 2).refusal,
            "task 0 (all-gather of parameters of unit 0) sends parameters that rank 2 lacks");
}

// A part that is scattered among neighbours is whole on one of them alone.
TEST(Fsdp, IsRefusedWhereRanksAddUpPartsThatTheyLack) {
  StepPlan plan = parse_method("hsdp:2").plan(true);
  EXPECT_EQ(prove_plan(plan, 2).refusal, "");
  for (Task& task : plan.tasks)
    if (task.part_among) task.part_among = RankGroups{.size = 1};
  EXPECT_THAT(prove_plan(plan, 2).refusal, HasSubstr("sends gradients that rank 1 lacks"));
}

TEST(Fsdp, IsRefusedWhereAMicroBatchOverwritesGradientsOnTheirWay) {
  StepPlan plan = parse_method("fsdp").plan(true, {.micro_batches = 2});
  for (Task& task : plan.tasks)
    if (task.kind == TaskKind::backward && task.micro_batch == 1) task.after.pop_back();
  EXPECT_THAT(prove_plan(plan).refusal, HasSubstr("use the same gradients at once"));
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
StepTimes step_of(const char* method, double gathered = 1, int micro_batches = 1) {
  StepTimeline timeline =
      timeline_of({{"h2.w", 1000, Seconds(0.005)}, {"h1.w", 2000, Seconds(0.010)}, {"h0.w", 3000, Seconds(0.020)}});
  timeline.update = Seconds(0.004);
  timeline.gathered = gathered;
  const TrainingStrategy strategy{
      .method = parse_method(method), .algorithm = parse_algorithm_rule("ring"), .fusion = parse_fusion("none")};
  const StepTimes times =
      StepSimulator(support::round_cluster(), {.workers = 2}).run(timeline.repeated(micro_batches), strategy);
  const Seconds sum = times.compute + times.straggler + times.slowdown + times.exposed + times.update;
  EXPECT_NEAR(sum.value, times.step.value, 1e-12) << "the parts do not add up";
  return times;
}

constexpr double kTolerance = 1e-12;

/// A step of the same blocks on `workers` GPUs, two of each node.
StepTimes step_on_nodes(const char* method, int workers, int micro_batches = 1) {
  StepTimeline timeline =
      timeline_of({{"h2.w", 1000, Seconds(0.005)}, {"h1.w", 2000, Seconds(0.010)}, {"h0.w", 3000, Seconds(0.020)}});
  timeline.update = Seconds(0.004);
  const TrainingStrategy strategy{
      .method = parse_method(method), .algorithm = parse_algorithm_rule("ring"), .fusion = parse_fusion("none")};
  Profile cluster = support::round_cluster();
  cluster.gpus_per_node = 2;
  return StepSimulator(cluster, {.workers = workers}).run(timeline.repeated(micro_batches), strategy);
}

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

TEST(Hsdp, OfOneReplicaIsFsdp) {
  for (const int workers : {2, 4, 8}) {
    const StepTimes all = step_on_nodes("fsdp", workers);
    const StepTimes one = step_on_nodes(workers == 2 ? "hsdp:2" : workers == 4 ? "hsdp:4" : "hsdp:8", workers);
    EXPECT_NEAR(one.step.value, all.step.value, kTolerance) << workers;
    EXPECT_NEAR(one.communication.value, all.communication.value, kTolerance) << workers;
  }
}

// Groups of one scatter nothing, and all ranks add up each block when its backward pass is done.
TEST(Hsdp, OfGroupsOfOneIsSynchronousTrainingBlockByBlock) {
  StepTimeline timeline =
      timeline_of({{"h2.w", 1000, Seconds(0.005)}, {"h1.w", 2000, Seconds(0.010)}, {"h0.w", 3000, Seconds(0.020)}});
  timeline.update = Seconds(0.004);
  const TrainingStrategy strategy{.algorithm = parse_algorithm_rule("ring"), .fusion = parse_fusion("none")};
  Profile cluster = support::round_cluster();
  cluster.gpus_per_node = 2;
  for (const int workers : {2, 4, 8}) {
    const StepTimes ddp = StepSimulator(cluster, {.workers = workers}).run(timeline, strategy);
    EXPECT_NEAR(step_on_nodes("hsdp:1", workers).step.value, ddp.step.value, kTolerance) << workers;
    EXPECT_NEAR(step_on_nodes("hsdp:1", workers).communication.value, ddp.communication.value, kTolerance) << workers;
  }
}

/// Elements that `rank` sends in a step, within its node and to others, as the schedules of the plan have it.
struct Sent {
  double within = 0, between = 0;
};
Sent sent_by(Rank rank, const StepPlan& plan, const std::vector<std::int64_t>& elements, int ranks, int per_node) {
  Sent sent;
  for (const Task& task : plan.tasks) {
    if (task.computes()) continue;
    std::int64_t size = 0;
    for (const int tensor : plan.units[static_cast<std::size_t>(task.unit)]) size += elements[tensor];
    if (task.collective == CollectiveKind::all_reduce) size /= sharded(plan).groups.size_among(ranks);
    const AlgorithmChoice ring = part_of(parse_algorithm("ring"), task.collective).value();
    const Schedule all =
        to_transfers(in_groups(ring.runs({.workers = task.groups.size_among(ranks)}, 1), ranks, task.groups));
    for (const Transfer& transfer : all.transfers)
      if (transfer.src == rank)
        (transfer.dst / per_node == rank / per_node ? sent.within : sent.between) +=
            static_cast<double>(all.range(transfer.first_chunk, transfer.chunk_count, size).size());
  }
  return sent;
}

// Field table A.1: 3 Psi inside groups and 2 Psi / S between them, with the factors of rings.
TEST(Hsdp, SendsWhatItsClosedFormSays) {
  const std::vector<std::int64_t> elements{3200, 6400, 9600};
  const double psi = 3200 + 6400 + 9600, last = 9600;  // of the last block, which is gathered once
  const std::vector<std::vector<int>> units{{0}, {1}, {2}};
  for (const int shard : {2, 4, 8}) {
    const int ranks = 32, replicas = ranks / shard;
    const StepPlan plan = parse_method("hsdp:" + std::to_string(shard)).plan(true, {.units = units});
    for (const Rank rank : {0, 5, 31}) {
      const Sent sent = sent_by(rank, plan, elements, ranks, shard);
      EXPECT_DOUBLE_EQ(sent.within, (3 * psi - last) * (shard - 1) / shard) << shard;
      EXPECT_DOUBLE_EQ(sent.between, 2 * psi / shard * (replicas - 1) / replicas) << shard;
    }
  }
}

// Nodes of two: all-gathers and reduce-scatters within them take no time beside those between nodes that fsdp has.
TEST(Hsdp, LeavesNodesWithPartsAlone) {
  const StepTimes all = step_on_nodes("fsdp", 8), grouped = step_on_nodes("hsdp:2", 8);
  EXPECT_LT(grouped.step.value, all.step.value);
  EXPECT_EQ(grouped.buckets, all.buckets + 3);
}

// The second micro-batch gathers and scatters everything again, behind its passes.
TEST(Fsdp, GathersAndScattersForEachMicroBatch) {
  const StepTimes one = step_of("fsdp");
  const StepTimes two = step_of("fsdp", 1, 2);
  EXPECT_EQ(two.buckets, 2 * one.buckets);
  EXPECT_NEAR(two.communication.value, 2 * one.communication.value, kTolerance);
  EXPECT_NEAR(two.compute.value, 0.060, kTolerance);
  EXPECT_NEAR(two.step.value, 0.0025 + 0.030 + 0.005 + 0.030 + 0.0025 + 0.002, kTolerance)
      << "the gather of block 0 waits for the scatter before it, of the micro-batch before";
}

// Gradients are made 15, 20 and 30 ms after a micro-batch has begun, and the last ones scattered 2.5 ms later; then
// come half of the update, and three gathers.
TEST(Zero, ScattersTheGradientsOfEachMicroBatchWhereItKeepsItsOwnAlone) {
  for (const bool overlap : {false, true})
    for (const int micro_batches : {1, 2, 3})
      EXPECT_EQ(prove_plan(parse_method("zero:2").plan(overlap, {.micro_batches = micro_batches})).refusal, "");
  const StepTimes two = step_of("zero:2", 1, 2);
  EXPECT_NEAR(two.step.value, 2 * 0.0325 + 0.002 + 0.006, kTolerance);
  EXPECT_NEAR(two.compute.value, 0.060, kTolerance);
  EXPECT_EQ(two.buckets, 2 * 3 + 3);
  EXPECT_FALSE(parse_method("zero:1").exchanges_each_micro_batch()) << "all gradients are kept, and leave once";
}

TEST(Hsdp, AddsUpReplicasAfterTheLastMicroBatchAlone) {
  const StepTimes one = step_on_nodes("hsdp:2", 4), three = step_on_nodes("hsdp:2", 4, 3);
  EXPECT_EQ(one.buckets, 8 + 3);
  EXPECT_EQ(three.buckets, 3 * 8 + 3);
}

TEST(Fsdp, GathersInTheTypeThatPassesComputeIn) {
  const StepTimes times = step_of("fsdp-keep", 0.5);
  EXPECT_NEAR(times.communication.value, (1.75 + 1.5 + 1.25 + 2.5 + 2 + 1.5) / 1e3, kTolerance);
}

}  // namespace
}  // namespace hbench::fsdp_test
