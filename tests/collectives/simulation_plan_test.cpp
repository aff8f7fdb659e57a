// What the simulator leaves out where a schedule allows it: the times must be those of the full simulation, to the bit.

#include "collectives/network/simulation_plan.hpp"

#include <algorithm>
#include <random>

#include "collectives/network/simulator.hpp"
#include "tests/collectives/clusters.hpp"
#include "tests/collectives/instances.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::simulation_plan_test {
namespace {

using namespace ::hbench::support;

/// Latency, reductions, streams and servers that are slower than the line, and a protocol of low latency.
Profile every_queue(int gpus_per_node) {
  Profile profile = round_cluster();
  profile.gpus_per_node = gpus_per_node;
  profile.memory_rate = BytesPerSecond(3e8);
  profile.stream_cap = BytesPerSecond(3e6);
  profile.server_rate = BytesPerSecond(5e6);
  profile.network_low_latency = Seconds(1e-4);
  return profile;
}

/// Bandwidth alone: every small difference between chunks stays in the queues.
Profile bandwidth_alone(int gpus_per_node) {
  Profile profile = without_latency(round_cluster());
  profile.gpus_per_node = gpus_per_node;
  return profile;
}

std::vector<double> finishes(const Profile& profile, const RunSchedule& schedule, std::int64_t elements,
                             PlanDetail detail) {
  Network network(profile, schedule.world);
  const SimulationPlan plan(network.layout(), schedule, detail);
  SimulatedCollective collective(network, plan, kPlain, elements, Seconds(0.25));
  std::vector<double> times;
  while (!collective.done()) {
    times.push_back(collective.next_round().value);
    collective.advance();
  }
  for (Rank rank = 0; rank < schedule.world.ranks(); ++rank) times.push_back(collective.finish(rank).value);
  return times;
}

void expect_same(const Profile& profile, const RunSchedule& schedule, std::int64_t elements, const std::string& name) {
  EXPECT_EQ(finishes(profile, schedule, elements, PlanDetail::least),
            finishes(profile, schedule, elements, PlanDetail::full))
      << name << ", " << profile.gpus_per_node << " GPUs per node, " << elements << " elements";
}

SimulationPlan plan_of(const char* algorithm, const World& world, int gpus_per_node, int segments = 1) {
  return {RankLayout(world, gpus_per_node), parse_algorithm(algorithm).runs(world, segments)};
}

int grouped_runs(const SimulationPlan& plan) {
  return static_cast<int>(std::ranges::count_if(plan.runs(), [](const PlannedRun& run) { return run.groups > 0; }));
}

TEST(SimulationPlan, GivesTheTimesOfTheFullSimulationForEveryAlgorithm) {
  for (const Algorithm* algorithm : algorithms())
    for (const int workers : {1, 2, 3, 5, 8, 12, 16, 31, 32})
      for (const Instance& instance : instances(*algorithm, workers)) {
        const RunSchedule schedule = algorithm->runs(instance.request());
        for (const int gpus_per_node : {1, 3, 8})
          for (const Profile& profile : {every_queue(gpus_per_node), bandwidth_alone(gpus_per_node)})
            expect_same(profile, schedule, instance.total(10'007), instance.name);
      }
}

// Long enough for runs that are taken in groups: on one GPU per node, on full nodes, and with a node half full. Of
// 7 elements most chunks are empty, 100,003 leave chunks of two sizes, which a round meets anywhere.
TEST(SimulationPlan, GivesTheTimesOfTheFullSimulationInLargerWorlds) {
  for (const char* name : {"ring", "ring-segmented", "torus", "halving-doubling", "hierarchical:direct:ring",
                           "hierarchical:ring:ring", "hierarchical:direct:halving-doubling", "double-binary-tree",
                           "hierarchical:ring-segmented:ring-segmented", "hierarchical:direct:torus"})
    for (const int nodes : {17, 48})
      for (const int gpus_per_node : {1, 2, 4}) {
        const AlgorithmChoice choice = parse_algorithm(name);
        const World world{.workers = nodes * gpus_per_node, .group = gpus_per_node};
        for (const int segments : {1, 3}) {
          const RunSchedule schedule = choice.runs(world, segments);
          for (const std::int64_t elements : {7, 96 * 1024, 100'003}) {
            for (const int of_node : {gpus_per_node, 3}) {
              expect_same(every_queue(of_node), schedule, elements, name);
              expect_same(bandwidth_alone(of_node), schedule, elements, name);
            }
          }
        }
      }
}

// Transfers at random, which no property holds for: nothing may be left out that counts.
TEST(SimulationPlan, GivesTheTimesOfTheFullSimulationForSchedulesAtRandom) {
  std::mt19937 random(12);
  const auto below = [&](int end) { return std::uniform_int_distribution<int>(0, end - 1)(random); };
  for (int seed = 0; seed < 300; ++seed) {
    const int ranks = 2 + below(7), parts = 1 + below(3), width = 1 + below(4);
    Schedule schedule{
        .world = {.workers = ranks}, .chunks = parts * width, .rounds = 8, .transfers = {}, .offsets = {}};
    for (int round = 0; round < schedule.rounds; ++round)
      for (int i = below(2 * ranks); i >= 0; --i) {
        const int first = below(schedule.chunks);
        schedule.transfers.push_back({round, below(ranks), below(ranks), first, 1 + below(schedule.chunks - first),
                                      below(2) == 0 ? TransferKind::reduce : TransferKind::copy});
      }
    RunSchedule runs = to_runs(schedule);
    runs.parts = parts;
    expect_same(every_queue(1 + below(3)), runs, 1000 + seed, "seed " + std::to_string(seed));
  }
}

TEST(SimulationPlan, TakesLikeGpusOfAllNodesTogetherWhereRanksAreInARing) {
  const World world{.workers = 128, .group = 4};
  const SimulationPlan ring = plan_of("ring", world, 4);
  EXPECT_EQ(ring.chunks().kept, Kept::carried);
  EXPECT_EQ(ring.chunks().stride, 4);
  EXPECT_GE(grouped_runs(ring), 2 * 127);
  const SimulationPlan hierarchy = plan_of("hierarchical:direct:ring", world, 4);
  EXPECT_EQ(hierarchy.chunks().kept, Kept::carried);
  EXPECT_EQ(hierarchy.chunks().parts, 4);
  EXPECT_EQ(hierarchy.chunks().stride, 1);
  EXPECT_GE(grouped_runs(hierarchy), 2 * 4 * 31);
}

TEST(SimulationPlan, KeepsTimesOfRunsOfChunksForHalvingAndOfChunksForTrees) {
  const World world{.workers = 128, .group = 4};
  EXPECT_EQ(plan_of("halving-doubling", world, 4).chunks().kept, Kept::runs);
  EXPECT_EQ(plan_of("hierarchical:direct:halving-doubling", world, 4).chunks().parts, 4);
  EXPECT_EQ(plan_of("double-binary-tree", world, 4, 3).chunks().kept, Kept::chunks);
  EXPECT_EQ(plan_of("recursive-doubling", world, 4).chunks().kept, Kept::parts);
  EXPECT_EQ(grouped_runs(plan_of("double-binary-tree", world, 4, 3)), 0);
  EXPECT_THAT(plan_of("recursive-doubling", world, 4).chunks().own_begin, Each(0)) << "who has no part";
}

// Ranks 0 and 1 of a node both send out of it, through one queue: the order of the list counts.
TEST(SimulationPlan, TakesRunsThatShareANicTransferByTransfer) {
  Schedule schedule{.world = {.workers = 32}, .chunks = 32, .rounds = 1, .transfers = {}, .offsets = {}};
  for (Rank rank = 0; rank + 2 < 32; ++rank)
    schedule.transfers.push_back({.src = rank, .dst = rank + 2, .first_chunk = rank});
  const RunSchedule runs = to_runs(schedule);
  EXPECT_EQ(grouped_runs({RankLayout(schedule.world, 2), runs}), 0);
  EXPECT_EQ(grouped_runs({RankLayout(schedule.world, 1), runs}), 1);
  expect_same(bandwidth_alone(2), runs, 10'007, "two apart");
}

// Chunks 0 to 31 are sent on by one rank each, as in a ring, and of chunks 32 to 95 every second one, in the same way:
// times are kept for one distance of chunks, and the other runs go transfer by transfer.
TEST(SimulationPlan, TakesRunsOfAnotherDistanceTransferByTransfer) {
  RunSchedule schedule{.world = {.workers = 33}, .chunks = 96, .rounds = 6, .runs = {}, .offsets = {}};
  for (int round = 0; round < 6; ++round) {
    const int step = round % 2 + 1, passed = round / 2;
    schedule.runs.push_back({.first = {.round = round, .src = passed, .dst = passed + 1, .first_chunk = round % 2 * 32},
                             .count = 32 - passed,
                             .src_step = 1,
                             .dst_step = 1,
                             .chunk_step = step});
  }
  const SimulationPlan plan(RankLayout(schedule.world, 1), schedule);
  EXPECT_EQ(plan.chunks().kept, Kept::carried);
  EXPECT_EQ(plan.chunks().stride, 1);
  EXPECT_EQ(grouped_runs(plan), 3) << "every second one";
  for (const std::int64_t elements : {7, 96 * 1024, 100'003}) {
    expect_same(every_queue(1), schedule, elements, "two distances");
    expect_same(bandwidth_alone(1), schedule, elements, "two distances");
  }
}

// A claim about parts that does not hold: rank 1 gets half of part 0 and half of part 1.
TEST(SimulationPlan, DoesNotBelieveInPartsThatAreCutTwice) {
  RunSchedule schedule{.world = {.workers = 2},
                       .chunks = 4,
                       .rounds = 2,
                       .parts = 2,
                       .runs = {{.first = {0, 0, 1, 0}}, {.first = {1, 0, 1, 2}}},
                       .offsets = {}};
  EXPECT_EQ(SimulationPlan(RankLayout(schedule.world, 1), schedule).chunks().parts, 1);
  schedule.runs[1].first.first_chunk = 1;
  EXPECT_EQ(SimulationPlan(RankLayout(schedule.world, 1), schedule).chunks().parts, 2);
}

// Two rings at once: each has its own times, and they share the queues.
TEST(SimulationPlan, GivesTheTimesOfTheFullSimulationToCollectivesInFlightTogether) {
  const World world{.workers = 64};
  const RunSchedule schedule = parse_algorithm("ring").runs(world, 1);
  std::vector<std::vector<double>> both;
  for (const PlanDetail detail : {PlanDetail::least, PlanDetail::full}) {
    Network network(every_queue(2), world);
    const SimulationPlan plan(network.layout(), schedule, detail);
    SimulatedCollective first(network, plan, kPlain, 10'007, Seconds(0)),
        second(network, plan, kHalf, 999, Seconds(0.1));
    while (!first.done()) {
      first.advance();
      second.advance();
    }
    both.push_back({first.finish().value, second.finish().value});
  }
  EXPECT_EQ(both[0], both[1]);
}

// 6 ranks, 12 chunks in 3 parts of 4. Of 8 bytes are a finish and a time of each part for every rank, and what is
// kept of the chunks: a rank's own part; of the ends of runs, at most two for each round and one, on either side; a
// carrier for each chunk.
TEST(BytesOfTimes, AreThoseOfWhatAShapeKeeps) {
  const World world{.workers = 6};
  EXPECT_EQ(bytes_of_times(world, {.chunks = 12, .rounds = 1, .parts = 3}), 8 * (6 * 4 + 6 * 4));
  EXPECT_EQ(bytes_of_times(world, {.chunks = 12, .rounds = 1, .parts = 3, .ranges = true}), 8 * (2 * 6 * 3 + 6 * 4));
  EXPECT_EQ(bytes_of_times(world, {.chunks = 12, .rounds = 5, .parts = 3, .ranges = true}), 8 * (2 * 6 * 4 + 6 * 4));
  EXPECT_EQ(bytes_of_times(world, {.chunks = 12, .rounds = 1, .parts = 3, .carried = true}), 8 * (12 + 6 * 4));
}

TEST(SimulationPlans, MakeEachPlanOnce) {
  const World world{.workers = 8, .group = 4};
  SimulationPlans plans(RankLayout(world, 4), world);
  const SimulationPlan* ring = &plans.of(parse_algorithm("ring"), 1);
  EXPECT_EQ(&plans.of(parse_algorithm("ring"), 1), ring);
  EXPECT_NE(&plans.of(parse_algorithm("ring-segmented"), 1), ring);
  EXPECT_EQ(plans.of(parse_algorithm("ring-segmented"), 2).runs().back().run.first.round, 27);
  EXPECT_EQ(&plans.of(parse_algorithm("ring"), 1), ring);
}

}  // namespace
}  // namespace hbench::simulation_plan_test
