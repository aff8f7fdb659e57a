#include "workloads/simulation/free_run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/collectives/clusters.hpp"
#include "workloads/simulation/step_simulator.hpp"

namespace hbench::free_run_test {
namespace {

using namespace ::hbench::support;

/// Passes of 30 ms, and 6000 parameters.
StepTimeline three_tensors(double scale = 1) {
  return {.batch = 3,
          .forward = Seconds(0.010 * scale),
          .backward = Seconds(0.020 * scale),
          .gradients = {{"c", 1000, Seconds(0.005 * scale)},
                        {"b", 2000, Seconds(0.010 * scale)},
                        {"a", 3000, Seconds(0.020 * scale)}}};
}

/// Messages take no time.
Profile free_network() {
  Profile profile = without_latency(round_cluster());
  profile.local_rate = profile.line_rate = BytesPerSecond(4e15);
  return profile;
}

TrainingStrategy strategy_of(const char* method, int servers) {
  TrainingStrategy strategy{.method = parse_method(method),
                            .algorithm = parse_algorithm_rule(servers > 0 ? "ps" : "ring"),
                            .fusion = parse_fusion("none")};
  strategy.servers = servers;
  if (servers > 0) strategy.placement = &find_entry(placements(), "greedy", "placement");
  return strategy;
}

/// A job of workers with a node each. The passes of rank 1 take `slower` times as long as those of others.
StepTimes run(const Profile& profile, const char* method, int workers, double slower = 1, int servers = 0,
              const StepTimeline& timeline = three_tensors()) {
  const TrainingStrategy strategy = strategy_of(method, servers);
  const World world = strategy.world(workers, 1);
  Network network(profile, world);
  return FreeRun({.profile = profile, .timeline = timeline, .strategy = strategy, .world = world}, network,
                 [slower](Rank rank) { return rank == 1 ? slower : 1.0; }, {})
      .run();
}

/// The throughput of ranks by that of as many which nothing slows.
double speed(const StepTimes& times) { return times.alone.value / times.step.value; }

constexpr double kSlower = 4;

TEST(FreeRun, LetsASlowWorkerOfAsynchronousServersHoldUpNobody) {
  for (const int workers : {2, 4, 8})
    EXPECT_NEAR(speed(run(free_network(), "async-ps", workers, kSlower, 1)), (workers - 1 + 1 / kSlower) / workers,
                1e-6);
}

TEST(Staleness, IsTheMeanAndTheLargestOfWhatWasCounted) {
  const Staleness staleness = Staleness::of({{0, 10}, {1, 85}, {3, 4}, {9, 1}});
  EXPECT_DOUBLE_EQ(staleness.mean, 1.06);
  EXPECT_EQ(staleness.p95, 1) << "95 of 100";
  EXPECT_EQ(staleness.largest, 9);
  EXPECT_EQ(Staleness::of({{0, 10}, {1, 84}, {3, 6}}).p95, 3);
}

TEST(FreeRun, LetsASlowWorkerHoldUpAllWhereNoStalenessIsAllowed) {
  for (const int workers : {2, 4, 8})
    EXPECT_NEAR(speed(run(free_network(), "ssp:0", workers, kSlower, 1)), 1 / kSlower, 1e-6);
}

TEST(FreeRun, HoldsWorkersBackToTheSlowestWhateverTheBound) {
  for (const char* method : {"ssp:1", "ssp:3"})
    EXPECT_NEAR(speed(run(free_network(), method, 4, kSlower, 1)), 1 / kSlower, 0.02) << method;
}

TEST(FreeRun, IsAsynchronousWhereTheBoundIsNeverReached) {
  const StepTimes bounded = run(round_cluster(), "ssp:1000000", 4, kSlower, 2);
  const StepTimes free = run(round_cluster(), "async-ps", 4, kSlower, 2);
  EXPECT_DOUBLE_EQ(bounded.step.value, free.step.value);
  EXPECT_EQ(bounded.staleness->largest, free.staleness->largest);
}

TEST(FreeRun, WaitsForNeighboursAloneWhichIsForAllInTheEnd) {
  EXPECT_NEAR(speed(run(free_network(), "decentralized", 6, kSlower)), 1 / kSlower, 0.02);
}

TEST(FreeRun, LetsASlowWorkerOfAGossipHoldUpNobody) {
  EXPECT_NEAR(speed(run(free_network(), "gossip", 8, kSlower)), (7 + 1 / kSlower) / 8, 1e-6);
}

TEST(FreeRun, CountsTheGradientsThatARankHasNotSeen) {
  const StepTimes alike = run(free_network(), "async-ps", 4, 1, 1);
  EXPECT_NEAR(alike.staleness->mean, 3, 0.1) << "each has seen all, and then the others come first";
  EXPECT_EQ(run(free_network(), "async-ps", 1, 1, 1).staleness->largest, 0);
  EXPECT_EQ(run(free_network(), "ssp:0", 4, 1, 1).staleness->largest, 3);
  const StepTimes behind = run(free_network(), "async-ps", 4, kSlower, 1);
  EXPECT_GE(behind.staleness->largest, 3 * kSlower) << "what three others do while the slow one computes";
}

/// Two neighbours get 6000 elements each, which is 12 ms on the link, and the last is there 1 ms later.
TEST(FreeRun, ExchangesWithNeighboursBesideThePasses) {
  EXPECT_NEAR(run(round_cluster(), "decentralized", 4).step.value, 0.030, 1e-9);
  EXPECT_NEAR(run(round_cluster(), "decentralized", 4, 1, 0, three_tensors(0.01)).step.value, 0.013, 1e-4);
}

/// One worker's 6000 elements to a server and back: 12 ms, of which the last tensor's there and back are exposed.
TEST(FreeRun, TakesAsLongAsTheStepOfOneWorkerWithItsServer) {
  const TrainingStrategy together = strategy_of("synchronous", 1);
  const World world = together.world(1, 1);
  const StepTimes synchronous = StepSimulator(round_cluster(), world).run(three_tensors(), together);
  EXPECT_NEAR(run(round_cluster(), "async-ps", 1, 1, 1).step.value, synchronous.step.value, 1e-9);
  EXPECT_NEAR(run(round_cluster(), "ssp:0", 1, 1, 1).step.value, synchronous.step.value, 1e-9);
}

/// A worker that has its answers goes on, and does not wait until all others have theirs.
TEST(FreeRun, IsNoSlowerThanSynchronousServersWhereNoStalenessIsAllowed) {
  for (const int workers : {2, 4, 8}) {
    const TrainingStrategy together = strategy_of("synchronous", 2);
    const StepTimes synchronous =
        StepSimulator(round_cluster(), together.world(workers, 1)).run(three_tensors(), together);
    const double ratio = run(round_cluster(), "ssp:0", workers, 1, 2).step.value / synchronous.step.value;
    EXPECT_LE(ratio, 1 + 1e-9);
    EXPECT_GE(ratio, 0.7);
  }
}

/// Two push 4 MiB each to one server: each has half of its link on the way there, and half on the way back. In turns of
/// a quarter of that one is soon ahead of the other, has the whole link to itself, and a step takes half as long; in
/// those of 16 KiB it gets ahead of it by one in each step.
TEST(FreeRun, GivesWorkersThatPushAtTheSameTimeTheirAnswersAtTheSameTime) {
  constexpr std::int64_t kElements = 1 << 20;
  const StepTimeline one_tensor{
      .batch = 1, .forward = Seconds(1e-6), .backward = Seconds(1e-6), .gradients = {{"w", kElements, Seconds(1e-6)}}};
  const Profile profile = without_latency(round_cluster());
  const double alone = kElements * sizeof(float) / profile.line_rate.value;
  EXPECT_NEAR(run(profile, "async-ps", 2, 1, 1, one_tensor).step.value / (4 * alone), 1, 0.1);
}

TEST(FreeRunGrain, IsFineWhereLittleTravelsAndCoarseInLargeJobs) {
  const TrainingStrategy strategy = strategy_of("async-ps", 2);
  const auto grain = [&](int workers, std::int64_t elements) {
    const StepTimeline one_tensor{.gradients = {{"w", elements, Seconds(0)}}};
    return grain_of(strategy.world(workers, 1), one_tensor, strategy);
  };
  EXPECT_EQ(grain(4, 1'000'000).turn, 16'384);
  EXPECT_EQ(grain(1024, 100'000'000).turn, MessageFlow::kTurn);
  EXPECT_GT(grain(4, 1'000'000).iterations, grain(1024, 100'000'000).iterations);
  EXPECT_LT(grain(4, 1'000'000).time, Seconds(1)) << "however small, a rank does no more than some iterations";
}

TEST(FreeRun, HasPartsThatAddUpToItsStep) {
  for (const char* method : {"async-ps", "ssp:2", "decentralized", "gossip"}) {
    const int servers = parse_method(method).plan(true).tasks[2].among == Among::servers ? 2 : 0;
    const StepTimes times = run(round_cluster(), method, 4, 1.5, servers);
    const Seconds sum = times.compute + times.straggler + times.slowdown + times.exposed + times.update;
    EXPECT_NEAR(sum.value, times.step.value, 1e-9) << method;
  }
}

TEST(FreeRun, DrawsPassesThatAreAsLongInTheMeanAndTheSameEachTime) {
  const Lateness once = drawn_lateness(0.05, 2), again = drawn_lateness(0.05, 2);
  double sum = 0, squares = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const double drawn = once(1);
    EXPECT_EQ(drawn, again(1));
    sum += drawn;
    squares += (drawn - 1) * (drawn - 1);
  }
  EXPECT_NEAR(sum / kDraws, 1, 0.002);
  EXPECT_NEAR(std::sqrt(squares / kDraws), 0.05, 0.001);
}

TEST(FreeRun, ShowsAnIterationOfRankZero) {
  const Profile profile = round_cluster();
  std::vector<Span> spans;
  const StepTimes times = StepSimulator(profile, {.workers = 4})
                              .run(three_tensors(), strategy_of("decentralized", 0), 1, End::stated, &spans);
  ASSERT_FALSE(spans.empty());
  double step = 0;
  for (const Span& span : spans) {
    EXPECT_EQ(span.rank, 0);
    EXPECT_LE(span.begin, span.end);
    if (span.kind == SpanKind::step) step = (span.end - span.begin).value;
  }
  EXPECT_NEAR(step, times.step.value, 1e-9);
}

}  // namespace
}  // namespace hbench::free_run_test
