// Replayed steps: real gradients through the real engine, at the times of a timeline.

#include "workloads/engine/replay.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

#include "tests/workloads/engine_ranks.hpp"
#include "workloads/simulation/step_simulator.hpp"
#include "workloads/step/model_units.hpp"

namespace hbench {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// 30 ms and a gradient that is longer than the pattern repeats.
ReplayRequest small_replay(double dilation = 1) {
  ReplayRequest replayed;
  replayed.timeline = {.batch = 2, .forward = Seconds(0.01), .backward = Seconds(0.02)};
  replayed.timeline.gradients = {
      {"head", 1000, Seconds(0.005)}, {"body", 140'000, Seconds(0.015)}, {"stem", 7, Seconds(0.02)}};
  replayed.dilation = dilation;
  return replayed;
}

/// All ranks' steps, and what each ended with.
struct Replayed {
  std::vector<std::string> failures;
  std::vector<StepReport> steps;
  std::map<Rank, Seconds> times;    ///< of all steps of a rank
  std::set<std::uint64_t> digests;  ///< of workers
  Moved sent;                       ///< by a worker in a step, on the mean
};

Replayed replay_on_threads(const TrainingRequest& request, const ReplayRequest& replayed) {
  Replayed all;
  std::mutex mutex;
  all.failures = on_all_ranks(request.world.ranks(), [&](Endpoint& endpoint) {
    const Rank rank = endpoint.transport().rank();
    const ReplayEnd end = replay(request, replayed, endpoint, [&](const StepReport& step) {
      const std::scoped_lock lock(mutex);
      all.steps.push_back(step);
      all.times[rank] += step.step;
    });
    const std::scoped_lock lock(mutex);
    if (rank >= request.world.workers) return;
    all.digests.insert(end.training.digest);
    all.sent += end.training.sent.value() * (1.0 / request.world.workers);
  });
  return all;
}

TEST(Replay, SumsRealGradientsWhateverTheAlgorithmAndTheFusion) {
  struct Variant {
    const char* algorithm;
    const char* placement;
    World world;
  };
  for (const Variant& variant : {Variant{"ring", "", {.workers = 3}}, Variant{"halving-doubling", "", {.workers = 4}},
                                 Variant{"ps", "greedy", {.workers = 2, .servers = 1}},
                                 Variant{"ps", "sliced", {.workers = 3, .servers = 3, .colocated = true}}})
    for (const char* fusion : {"none", "horovod:64MiB:1ms", "ddp"}) {
      SCOPED_TRACE(fmt::format("{} {}", variant.algorithm, fusion));
      TrainingRequest request = make_request(variant.world, variant.algorithm, variant.placement, fusion);
      request.steps = 2;
      const Replayed all = replay_on_threads(request, small_replay());
      EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
      EXPECT_EQ(all.steps.size(), 3U * static_cast<std::size_t>(variant.world.workers));
      EXPECT_EQ(all.digests.size(), 1U);
    }
}

TEST(Replay, OfEveryMethodExchangesWhatItsPlanSays) {
  struct Variant {
    const char* algorithm;
    int workers;
  };
  for (const char* method :
       {"zero:1", "zero:2", "local-sgd:1", "local-sgd:3", "diloco:1", "diloco:3", "post-local-sgd:1:1"})
    for (const Variant& variant : {Variant{"ring", 2}, Variant{"ring", 3}, Variant{"ring-segmented", 3},
                                   Variant{"direct", 3}, Variant{"halving-doubling", 4}})
      for (const char* fusion : {"none", "horovod:64MiB:1ms", "ddp", "byteps:4KB:10KB"}) {
        SCOPED_TRACE(fmt::format("{} {} {} {}", method, variant.algorithm, variant.workers, fusion));
        TrainingRequest request = make_request({.workers = variant.workers}, variant.algorithm, "", fusion);
        request.strategy.method = parse_method(method);
        request.steps = 2;
        const Replayed all = replay_on_threads(request, small_replay(0.1));
        EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
        const auto cycles = std::string_view(method).ends_with(":3") ? 2U : 3U;
        EXPECT_EQ(all.steps.size(), cycles * static_cast<std::size_t>(variant.workers));
        EXPECT_EQ(all.digests.size(), 1U);
      }
}

TEST(Replay, OfFragmentsAveragesThemBesideTheNextIterations) {
  for (const char* method : {"diloco:6:3", "diloco:6:2:1", "diloco:6:1:4:0.5", "diloco:5:2:1"})
    for (const char* algorithm : {"ring", "direct"}) {
      SCOPED_TRACE(fmt::format("{} {}", method, algorithm));
      TrainingRequest request = make_request({.workers = 3}, algorithm, "", "none");
      request.strategy.method = parse_method(method);
      request.steps = 12;
      const Replayed all = replay_on_threads(request, small_replay(0.1));
      EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
      EXPECT_EQ(all.digests.size(), 1U);
    }
}

TEST(Replay, OfCodedDeltasEndsAlikeOnAllWorkers) {
  for (const char* method : {"diloco:2", "diloco:4:2:1"})
    for (const char* compressor : {"fp16", "int8", "ef:onebit", "powersgd:2"}) {
      SCOPED_TRACE(fmt::format("{} {}", method, compressor));
      TrainingRequest request = make_request({.workers = 3}, "ring", "", "none");
      request.strategy.method = parse_method(method);
      request.strategy.compressor = parse_compressor(compressor);
      const Replayed all = replay_on_threads(request, small_replay(0.1));
      EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
      EXPECT_EQ(all.digests.size(), 1U);
    }
}

TEST(Replay, OfADecentralizedMethodTakesTheMeansOfNeighbours) {
  for (const auto& [method, workers] : {std::pair{"decentralized", 2},
                                        {"decentralized", 3},
                                        {"decentralized", 5},
                                        {"exponential", 5},
                                        {"exponential", 8}})
    for (const char* fusion : {"none", "ddp", "mg-wfbp", "byteps:4KB:10KB", "horovod:1KiB:1ms"}) {
      SCOPED_TRACE(fmt::format("{} {} {}", method, workers, fusion));
      TrainingRequest request = make_request({.workers = workers}, "ring", "", fusion);
      request.strategy.method = parse_method(method);
      request.steps = 5;
      request.traced_steps = 1;
      const Replayed all = replay_on_threads(request, small_replay(0.1));
      EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
      EXPECT_EQ(all.steps.size(), 7U * static_cast<std::size_t>(workers));
      EXPECT_EQ(all.digests.size(), 1U) << "they end with the mean of all";
    }
}

TEST(Replay, OfADecentralizedMethodStopsOnAllWorkersWhenTheBudgetIsSpent) {
  TrainingRequest request = make_request({.workers = 5}, "ring", "", "none");
  request.strategy.method = parse_method("decentralized");
  request.steps = 1000;
  request.budget = Seconds(0.1);
  const Replayed all = replay_on_threads(request, small_replay(0.1));
  EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
  EXPECT_EQ(all.steps.size() % 5, 0U);
  EXPECT_LT(all.steps.size(), 5U * 100U);
}

// BytePS's slices have a million elements, and a server more than one of a tensor.
TEST(Replay, OfServersWithSeveralSlicesOfATensorEndsAlikeOnAllWorkers) {
  ReplayRequest replayed = small_replay(0.1);
  replayed.timeline.gradients.push_back({"large", 5'000'000, Seconds(0.02)});
  for (const World& world : {World{.workers = 2, .servers = 1}, World{.workers = 2, .servers = 2, .colocated = true}}) {
    TrainingRequest request = make_request(world, "ps", "sliced", "none");
    request.strategy.method = parse_method("ssp:1");
    const Replayed all = replay_on_threads(request, replayed);
    EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
    EXPECT_EQ(all.digests.size(), 1U);
  }
}

TEST(Replay, OfAGossipEndsAlikeOnAllWorkers) {
  for (const int workers : {2, 4}) {
    TrainingRequest request = make_request({.workers = workers}, "ring", "", "none");
    request.strategy.method = parse_method("gossip");
    request.traced_steps = 1;
    const Replayed all = replay_on_threads(request, small_replay(0.1));
    EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
    EXPECT_EQ(all.steps.size(), 5U * static_cast<std::size_t>(workers));
    EXPECT_EQ(all.digests.size(), 1U);
  }
}

TEST(Replay, OfServersThatApplyGradientsEndsAlikeOnAllWorkers) {
  for (const char* method : {"async-ps", "ssp:1"})
    for (const World& world : {World{.workers = 3, .servers = 2}, World{.workers = 3, .servers = 3, .colocated = true}})
      for (const char* compressor : {"none", "bf16", "ef:topk"}) {
        TrainingRequest request = make_request(world, "ps", "sliced", "none");
        request.strategy.method = parse_method(method);
        request.strategy.compressor = parse_compressor(compressor);
        request.traced_steps = 1;
        const Replayed all = replay_on_threads(request, small_replay(0.1));
        EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
        EXPECT_EQ(all.steps.size(), 5U * 3U);
        EXPECT_EQ(all.digests.size(), 1U);
      }
}

/// 35 ms, of three blocks and what is before them.
ReplayRequest blocks_replay(double dilation) {
  ReplayRequest replayed;
  replayed.timeline = {.batch = 2, .forward = Seconds(0.01), .backward = Seconds(0.02), .update = Seconds(0.005)};
  replayed.timeline.gradients = {{"layers.2.weight", 70'000, Seconds(0.004)}, {"layers.2.bias", 11, Seconds(0.005)},
                                 {"layers.1.weight", 70'000, Seconds(0.009)}, {"layers.1.bias", 11, Seconds(0.010)},
                                 {"layers.0.weight", 70'000, Seconds(0.014)}, {"layers.0.bias", 11, Seconds(0.015)},
                                 {"embedding", 140'000, Seconds(0.020)}};
  replayed.dilation = dilation;
  replayed.units = model_units(replayed.timeline);
  return replayed;
}

TEST(Replay, OfShardedParametersGathersAndScattersBlockByBlock) {
  for (const char* method : {"fsdp", "fsdp-keep", "hsdp:2", "hpz:2", "zero++:2", "zero++:3"})
    for (const auto& [algorithm, workers] : {std::pair{"ring", 2},
                                             {"ring", 3},
                                             {"ring", 6},
                                             {"direct", 4},
                                             {"halving-doubling", 4},
                                             {"ring-segmented", 4}}) {
      if (workers % least_ranks(parse_method(method).plan(true)) != 0) continue;
      SCOPED_TRACE(fmt::format("{} {} {}", method, algorithm, workers));
      TrainingRequest request = make_request({.workers = workers}, algorithm, "", "none");
      request.strategy.method = parse_method(method);
      request.traced_steps = 1;
      const Replayed all = replay_on_threads(request, blocks_replay(0.2));
      EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
      EXPECT_EQ(all.steps.size(), 5U * static_cast<std::size_t>(workers));
      EXPECT_EQ(all.digests.size(), 1U);
    }
}

// Its passes and this rank's share of the update are the least; of all steps one is hardly disturbed by others.
TEST(Replay, OfShardedParametersTakesTheTimelineTimesTheDilation) {
  TrainingRequest request = make_request({.workers = 2}, "ring", "", "none");
  request.strategy.method = parse_method("fsdp");
  double least = 1;
  for (const StepReport& step : replay_on_threads(request, blocks_replay(2)).steps) {
    EXPECT_GE(step.step.value, 2 * (0.03 + 0.005 / 2));
    least = std::min(least, step.step.value - step.exposed.value);
  }
  EXPECT_LT(least, 2 * (0.03 + 0.005));
}

TEST(Replay, OfWhatAMethodStartsWithIsWarmUp) {
  TrainingRequest request = make_request({.workers = 2}, "ring", "", "ddp");
  request.strategy.method = parse_method("post-local-sgd:2:5");
  request.budget = Seconds(1e-6);  // is spent at once, and ends no start
  const Replayed all = replay_on_threads(request, small_replay(0.1));
  EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
  int warm_up = 0, timed = 0;
  for (const StepReport& step : all.steps) ++(step.warmup ? warm_up : timed);
  EXPECT_EQ(warm_up, 2 * 3) << "six iterations are three cycles";
  EXPECT_EQ(timed, 2);
}

TEST(Replay, OfMomentaEndsAlikeOnAllWorkers) {
  for (const char* method : {"1-bit-adam:2", "qadam:2"})
    for (const char* fusion : {"none", "ddp"}) {
      TrainingRequest request = make_request({.workers = 3}, "ring", "", fusion);
      request.strategy.method = parse_method(method);
      request.strategy.compressor = parse_compressor(request.strategy.method.method->compressor);
      request.traced_steps = 1;
      const Replayed all = replay_on_threads(request, small_replay(0.1));
      EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty())) << method << ' ' << fusion;
      EXPECT_EQ(all.digests.size(), 1U);
      EXPECT_EQ(all.steps.size(), 3U * 6U) << "two that START waits for, three timed, one traced";
    }
}

/// Four workers on two nodes, with a ring or with servers; tensors that four ranks divide without a rest.
void expect_to_send_as_simulated(const char* method, const World& world, const char* fusion,
                                 const char* compressor = "none") {
  SCOPED_TRACE(fmt::format("{} {} servers, {}, {}", method, world.servers, fusion, compressor));
  ReplayRequest replayed = blocks_replay(0.1);
  for (GradientEvent& gradient : replayed.timeline.gradients)
    gradient.elements = (gradient.elements + 8191) / 8192 * 8192;
  TrainingRequest request = make_request(world, world.servers > 0 ? "ps" : "ring", "", fusion);
  if (world.servers > 0) request.strategy.placement = &find_entry(placements(), "greedy", "placement");
  request.strategy.servers = world.servers;
  request.strategy.server_mode = world.colocated ? ServerMode::colocated : ServerMode::dedicated;
  request.strategy.method = parse_method(method);
  request.strategy.compressor = parse_compressor(compressor);
  if (!request.strategy.method.method->compressor.empty())
    request.strategy.compressor = parse_compressor(request.strategy.method.method->compressor);
  request.node_of_rank = RankLayout(world, 2).node;
  const Replayed all = replay_on_threads(request, replayed);
  ASSERT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
  Profile profile;
  profile.gpus_per_node = 2;
  const Moved simulated = StepSimulator(profile, world).run(replayed.timeline, request.strategy).sent.value();
  // Each encoded part of an all-reduce has a scale of its own, and whom these methods send to is drawn at random, or
  // changes by turns.
  const double tolerance = request.strategy.compressor.verbatim() || world.servers > 0 ? 1e-9 : 2e-3;
  const auto sum = [](const Moved& moved) { return moved.within + moved.between; };
  EXPECT_NEAR(sum(all.sent), sum(simulated), tolerance * sum(simulated));
  if (const std::string_view name = method; name == "gossip" || name == "exponential") return;
  EXPECT_NEAR(all.sent.within, simulated.within, tolerance * simulated.within);
}

TEST(Replay, SendsAsManyBytesAsASimulationOfItsMethod) {
  for (const char* fusion : {"none", "ddp"}) {
    for (const char* method : {"synchronous", "zero:1", "zero:2", "local-sgd:2", "diloco:2", "diloco:4:2:1",
                               "post-local-sgd:2:2", "decentralized", "exponential", "gossip", "1-bit-adam:2",
                               "qadam:2", "fsdp", "fsdp-keep", "hsdp:2", "hpz:2", "zero++:2"})
      expect_to_send_as_simulated(method, {.workers = 4}, fusion);
    expect_to_send_as_simulated("diloco:4:2:1", {.workers = 4}, fusion, "int8");
    for (const World& world : {World{.workers = 4, .servers = 2}, World{.workers = 4, .servers = 4, .colocated = true}})
      for (const char* method : {"synchronous", "local-sgd:2", "async-ps", "ssp:1"})
        expect_to_send_as_simulated(method, world, fusion);
  }
}

TEST(Replay, SendsCodedPushesAndParametersAsTheyAreToServersThatDoNotWait) {
  for (const World& world : {World{.workers = 4, .servers = 2}, World{.workers = 4, .servers = 4, .colocated = true}})
    for (const char* method : {"async-ps", "ssp:1"})
      for (const char* compressor : {"fp16", "int8", "ef:topk:0.01", "ef:onebit", "qsgd"})
        expect_to_send_as_simulated(method, world, "none", compressor);
}

TEST(Replay, OfALateCompressorEndsAlikeOnAllWorkers) {
  TrainingRequest request = make_request({.workers = 3}, "ring", "", "none");
  request.strategy.method = parse_method("late-compression:2");
  request.strategy.compressor = parse_compressor("powersgd:2");
  const Replayed all = replay_on_threads(request, small_replay(0.1));
  EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
  EXPECT_EQ(all.digests.size(), 1U);
}

TEST(Replay, OfLocalStepsAveragesOverServersToo) {
  TrainingRequest request = make_request({.workers = 3, .servers = 2}, "ps", "sliced", "none");
  for (const char* method : {"local-sgd:2", "diloco:2", "diloco:4:2:1", "post-local-sgd:2:3"}) {
    request.strategy.method = parse_method(method);
    const Replayed all = replay_on_threads(request, small_replay(0.1));
    EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
    EXPECT_EQ(all.digests.size(), 1U);
  }
}

TEST(Replay, TakesAShareOfTheUpdateWhereEachRankAppliesItsOwn) {
  ReplayRequest replayed = small_replay(2);
  replayed.timeline.update = Seconds(0.08);
  TrainingRequest request = make_request({.workers = 4}, "ring", "", "ddp");
  request.strategy.method = parse_method("zero:1");
  for (const StepReport& step : replay_on_threads(request, replayed).steps) {
    EXPECT_GE(step.step.value, 2 * (0.03 + 0.02));
    EXPECT_LT(step.step.value, 2 * (0.03 + 0.08));
  }
}

TEST(Replay, OfCompressedGradientsEndsAlikeOnAllWorkers) {
  TrainingRequest request = make_request({.workers = 3}, "ring", "", "ddp");
  request.strategy.compressor = parse_compressor("int8");
  const Replayed all = replay_on_threads(request, small_replay());
  EXPECT_THAT(all.failures, ::testing::Each(::testing::IsEmpty()));
  EXPECT_EQ(all.digests.size(), 1U);
}

TEST(Replay, TakesTheTimelineTimesTheDilation) {
  for (const double dilation : {1.0, 4.0}) {
    TrainingRequest request = make_request({.workers = 2}, "ring", "", "ddp");
    request.dilation = dilation;
    for (const StepReport& step : replay_on_threads(request, small_replay(dilation)).steps)
      EXPECT_GE(step.step.value, 0.03 * dilation);
  }
}

TEST(Replay, TakesTheUpdateOnTopOfThePasses) {
  ReplayRequest replayed = small_replay(2);
  replayed.timeline.update = Seconds(0.02);
  const TrainingRequest request = make_request({.workers = 2}, "ring", "", "ddp");
  for (const StepReport& step : replay_on_threads(request, replayed).steps) {
    EXPECT_GE(step.step.value, 0.1);
    EXPECT_LT(step.exposed.value, 0.04) << "it is no wait for gradients";
  }
}

TEST(Replay, AnnouncesGradientsInTheirOrderAndNotBeforeTheirTime) {
  const ReplayRequest replayed = small_replay(2);
  Replay one(replayed, 0, 1, true);
  const GradientLayout layout = one.record_layout();
  EXPECT_EQ(layout.elements, (std::vector<std::int64_t>{1000, 140'000, 7}));
  std::vector<float> memory(static_cast<std::size_t>(layout.total()));
  one.lay_out(layout, {.gradients = memory, .parameters = {}});
  const auto begin = Clock::now();
  one.forward(0);
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(20));
  std::vector<int> order;
  one.backward(
      [&](int tensor) {
        order.push_back(tensor);
        const double since = std::chrono::duration<double>(Clock::now() - begin).count();
        EXPECT_GE(since, 2 * (0.01 + replayed.timeline.gradients[static_cast<std::size_t>(tensor)].ready.value));
      },
      1);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(60));
  EXPECT_GT(one.processor_time().value, 0);
  EXPECT_LT(one.processor_time().value, 0.05) << "it sleeps";
}

TEST(Replay, ComputesLongerWhileACollectiveIsInFlight) {
  ReplayRequest replayed = small_replay();
  replayed.overlap_slowdown = 1;
  Replay one(replayed, 0, 1, true);
  const GradientLayout layout = one.record_layout();
  std::vector<float> memory(static_cast<std::size_t>(layout.total()));
  one.lay_out(layout, {.gradients = memory, .parameters = {}});
  one.watch([] { return true; });
  const auto begin = Clock::now();
  one.forward(0);
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(20));
}

/// A step of one worker of two whose gradients nobody has summed but `spoil`.
void end_step(const std::function<void(std::vector<float>& sums)>& spoil, bool whole) {
  const ReplayRequest replayed = small_replay(0.01);
  Replay one(replayed, 0, 2, true);
  const GradientLayout layout = one.record_layout();
  std::vector<float> memory(static_cast<std::size_t>(layout.total()));
  one.lay_out(layout, {.gradients = memory, .parameters = {}});
  one.forward(0);
  one.backward({}, 1);
  // The other contributes twice as much.
  for (float& each : memory) each *= 3;
  spoil(memory);
  if (whole)
    one.digest();
  else
    one.apply(0.1, 2);
}

TEST(Replay, NamesTheElementWhoseSumIsWrong) {
  end_step([](auto&) {}, true);
  end_step([](auto&) {}, false);
  const auto message_of = [](std::size_t element, bool whole) -> std::string {
    try {
      end_step([&](std::vector<float>& sums) { sums[element] += 1; }, whole);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::wrong_data);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message_of(100, false), HasSubstr("element 100 of head"));
  EXPECT_THAT(message_of(141'006, true), HasSubstr("element 6 of stem"));
  EXPECT_EQ(message_of(100'000, false), "") << "this step compares a part, the end all";
  EXPECT_THAT(message_of(100'000, true), HasSubstr("element 99000 of body"));
}

TEST(Replay, NoticesChunksThatWereSwapped) {
  EXPECT_THROW(end_step(
                   [](std::vector<float>& sums) {
                     std::swap_ranges(sums.begin() + 1000, sums.begin() + 2000, sums.begin() + 9000);
                   },
                   true),
               Error);
}

// Of n normal draws the largest is expected_largest_normal(n) deviations out, their mean is 0.
TEST(ReplayedDeviations, AreThoseOfAsManyNormalDraws) {
  EXPECT_EQ(replayed_deviation(0, 1, 3), 0);
  for (const int workers : {2, 4, 16, 64}) {
    double sum = 0, most = 0;
    for (Rank worker = 0; worker < workers; ++worker) {
      const double deviation = replayed_deviation(worker, workers, 5);
      sum += deviation;
      most = std::max(most, deviation);
    }
    EXPECT_NEAR(sum, 0, 1e-9);
    EXPECT_NEAR(most / expected_largest_normal(workers), 1, 1e-9) << workers;
  }
}

TEST(ReplayedDeviations, MakeAnotherWorkerTheSlowestInOtherSteps) {
  std::set<Rank> slowest;
  for (int step = 0; step < 50; ++step) {
    Rank last = 0;
    for (Rank worker = 1; worker < 8; ++worker)
      if (replayed_deviation(worker, 8, step) > replayed_deviation(last, 8, step)) last = worker;
    slowest.insert(last);
  }
  EXPECT_GE(slowest.size(), 6U);
}

// Three steps of worker 1 compute for 90 ms each, those of worker 0 for 30. A pause of the machine lengthens one step
// of worker 0 and shortens its next one, so that only all of them together are certain; 50 ms are left for a late
// begin.
TEST(Replay, OfASlowerWorkerMakesTheOthersWait) {
  ReplayRequest replayed = small_replay();
  replayed.slower = {1, 3};
  TrainingRequest request = make_request({.workers = 2}, "ring", "", "ddp");
  const std::map<Rank, Seconds> times = replay_on_threads(request, replayed).times;
  EXPECT_GE(times.at(1).value, 3 * 0.09);
  EXPECT_GE(times.at(0).value, 3 * 0.09 - 0.05);
}

// The cycle of 20 ms lasts 200 in a job that is stretched ten times.
TEST(Replay, StretchesTheTimesOfFusionPoliciesAsWell) {
  ReplayRequest replayed = small_replay(10);
  replayed.timeline.forward = replayed.timeline.backward = Seconds(0.0001);
  for (GradientEvent& gradient : replayed.timeline.gradients) gradient.ready = Seconds(0.00005);
  TrainingRequest request = make_request({.workers = 2}, "ring", "", "horovod:64MiB:20ms");
  request.dilation = 10;
  request.steps = 2;
  double longest = 0;
  for (const StepReport& step : replay_on_threads(request, replayed).steps)
    longest = std::max(longest, step.step.value);
  EXPECT_GE(longest, 0.1);
}

}  // namespace
}  // namespace hbench
