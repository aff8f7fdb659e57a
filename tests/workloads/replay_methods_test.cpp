// Replayed steps of each method: what ranks exchange is checked, and as many bytes as a simulation has.

#include <fmt/format.h>

#include "tests/collectives/shared_ranks.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/workloads/replay_cases.hpp"
#include "workloads/simulation/step_simulator.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench::replay_methods_test {
namespace {

TEST(ReplayedMethods, OfEveryMethodExchangesWhatItsPlanSays) {
  struct Variant {
    const char* algorithm;
    int workers;
  };
  int turn = 0;
  for (const char* method :
       {"zero:1", "zero:2", "local-sgd:1", "local-sgd:3", "diloco:1", "diloco:3", "post-local-sgd:1:1"})
    for (const Variant& variant : {Variant{"ring", 2}, Variant{"ring", 3}, Variant{"ring-segmented", 3},
                                   Variant{"direct", 3}, Variant{"halving-doubling", 4}}) {
      const std::vector<const char*> all_fusions{"none", "horovod:64MiB:1ms", "ddp", "byteps:4KB:10KB"};
      // Under a sanitizer by turns, so that every method and every variant meets each of them.
      const std::vector<const char*> in_turn{all_fusions[static_cast<std::size_t>(turn++) % all_fusions.size()]};
      for (const char* fusion : support::kSanitized ? in_turn : all_fusions) {
        SCOPED_TRACE(fmt::format("{} {} {} {}", method, variant.algorithm, variant.workers, fusion));
        TrainingRequest request = make_request({.workers = variant.workers}, variant.algorithm, "", fusion);
        request.strategy.method = parse_method(method);
        request.steps = 2;
        const Replayed all = expect_to_end_alike(request, small_replay(0.1));
        const int cycles = std::string_view(method).ends_with(":3") ? 2 : 3;
        const int start = request.strategy.method.plan(true).start();  // what is warm-up beside these
        EXPECT_EQ(all.steps.size(), static_cast<std::size_t>((start + cycles) * variant.workers));
      }
    }
}

TEST(ReplayedMethods, OfFragmentsAveragesThemBesideTheNextIterations) {
  for (const char* method : {"diloco:6:3", "diloco:6:2:1", "diloco:6:1:4:0.5", "diloco:5:2:1"})
    for (const char* algorithm : {"ring", "direct"}) {
      SCOPED_TRACE(fmt::format("{} {}", method, algorithm));
      TrainingRequest request = make_request({.workers = 3}, algorithm, "", "none");
      request.strategy.method = parse_method(method);
      request.steps = 12;
      expect_to_end_alike(request, small_replay(0.1));
    }
}

TEST(ReplayedMethods, EndAlikeOnAllWorkers) {
  struct Jobs {
    std::vector<const char*> methods;
    std::vector<World> worlds;
    std::vector<const char*> compressors;  // an empty one is the method's own
    std::vector<const char*> fusions = {"none"};
    int traced = 0;
    std::size_t steps = 0;  // of each worker; 0: whatever they are
  };
  const std::vector<World> three{{.workers = 3}}, beside_servers{{.workers = 3, .servers = 2}};
  for (const Jobs& jobs :
       {Jobs{{"synchronous"}, three, {"int8"}, {"ddp"}},
        Jobs{{"diloco:2", "diloco:4:2:1"}, three, {"fp16", "int8", "ef:onebit", "powersgd:2"}},
        Jobs{{"late-compression:2"}, three, {"powersgd:2"}},
        Jobs{{"local-sgd:2", "diloco:2", "diloco:4:2:1", "post-local-sgd:2:3"}, beside_servers, {"none"}},
        Jobs{{"gossip"}, {{.workers = 2}, {.workers = 4}}, {"none"}, {"none"}, 1, 5},
        Jobs{{"async-ps", "ssp:1"},
             {beside_servers.front(), {.workers = 3, .servers = 3, .colocated = true}},
             {"none", "bf16", "ef:topk"},
             {"none"},
             1,
             5},
        // Two that START waits for, one to warm up, three timed, one traced.
        Jobs{{"1-bit-adam:2", "qadam:2"}, three, {""}, {"none", "ddp"}, 1, 7}})
    for (const char* method : jobs.methods)
      for (const World& world : jobs.worlds)
        for (const std::string compressor : jobs.compressors)
          for (const char* fusion : jobs.fusions) {
            SCOPED_TRACE(fmt::format("{} {} {} servers {}", method, compressor, world.servers, fusion));
            const bool served = world.servers > 0;
            TrainingRequest request = make_request(world, served ? "ps" : "ring", served ? "sliced" : "", fusion);
            request.strategy.method = parse_method(method);
            request.strategy.compressor = parse_compressor(
                compressor.empty() ? std::string(request.strategy.method.method->compressor) : compressor);
            request.traced_steps = jobs.traced;
            const Replayed all = expect_to_end_alike(request, small_replay(0.1));
            if (jobs.steps > 0) {
              EXPECT_EQ(all.steps.size(), jobs.steps * static_cast<std::size_t>(world.workers));
            }
          }
}

TEST(ReplayedMethods, OfADecentralizedMethodTakesTheMeansOfNeighbours) {
  for (const int workers : support::kSanitized ? std::vector{2, 3} : std::vector{2, 3, 5, 8})
    for (const char* fusion : {"none", "ddp", "mg-wfbp", "byteps:4KB:10KB", "horovod:1KiB:1ms"}) {
      SCOPED_TRACE(fmt::format("{} {}", workers, fusion));
      TrainingRequest request = make_request({.workers = workers}, "ring", "", fusion);
      request.strategy.method = parse_method("decentralized");
      request.steps = 5;
      request.traced_steps = 1;
      const Replayed all = expect_to_end_alike(request, small_replay(0.1));
      EXPECT_EQ(all.steps.size(), 7U * static_cast<std::size_t>(workers));
    }
}

TEST(ReplayedMethods, OfADecentralizedMethodStopsOnAllWorkersWhenTheBudgetIsSpent) {
  TrainingRequest request = make_request({.workers = 5}, "ring", "", "none");
  request.strategy.method = parse_method("decentralized");
  request.steps = 1000;
  request.budget = Seconds(0.1);
  const Replayed all = replay_on_threads(request, small_replay(0.1));
  EXPECT_THAT(all.failures, Each(IsEmpty()));
  EXPECT_EQ(all.steps.size() % 5, 0U);
  EXPECT_LT(all.steps.size(), 5U * 100U);
}

// BytePS's slices have a million elements, and a server more than one of a tensor.
TEST(ReplayedMethods, OfServersWithSeveralSlicesOfATensorEndsAlikeOnAllWorkers) {
  ReplayRequest replayed = small_replay(0.1);
  replayed.timeline.gradients.push_back({"large", 2'100'000, Seconds(0.02)});
  for (const World& world : {World{.workers = 2, .servers = 1}, World{.workers = 2, .servers = 2, .colocated = true}}) {
    TrainingRequest request = make_request(world, "ps", "sliced", "none");
    request.strategy.method = parse_method("ssp:1");
    const Replayed all = replay_on_threads(request, replayed);
    EXPECT_THAT(all.failures, Each(IsEmpty()));
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

TEST(ReplayedMethods, OfShardedParametersGathersAndScattersBlockByBlock) {
  for (const char* method : {"fsdp", "fsdp-keep", "hsdp:2", "hsdp:3"})
    for (const auto& [algorithm, workers] : {std::pair{"ring", 2},
                                             {"ring", 3},
                                             {"ring", 6},
                                             {"direct", 4},
                                             {"halving-doubling", 4},
                                             {"ring-segmented", 4}}) {
      if (workers % least_ranks(parse_method(method).plan(true)) != 0) continue;
      if (support::kSanitized && workers == 6 && !std::string_view(method).starts_with("hsdp")) continue;
      SCOPED_TRACE(fmt::format("{} {} {}", method, algorithm, workers));
      TrainingRequest request = make_request({.workers = workers}, algorithm, "", "none");
      request.strategy.method = parse_method(method);
      request.traced_steps = 1;
      const Replayed all = expect_to_end_alike(request, blocks_replay(0.2));
      EXPECT_EQ(all.steps.size(), 5U * static_cast<std::size_t>(workers));
    }
}

// Its passes and this rank's share of the update are the least.
TEST(ReplayedMethods, OfShardedParametersTakesTheTimelineTimesTheDilation) {
  TrainingRequest request = make_request({.workers = 2}, "ring", "", "none");
  request.strategy.method = parse_method("fsdp");
  request.steps = 5;
  ReplayRequest replayed = blocks_replay(2);
  // Half of it is more than all that a sanitizer and a busy machine add to a step.
  replayed.timeline.update = Seconds(0.1);
  replayed.units = model_units(replayed.timeline);
  expect_to_take(request, replayed, Seconds(2 * (0.03 + 0.1 / 2)), Seconds(2 * (0.03 + 0.1)),
                 [](const StepReport& step) { return step.step - step.exposed; });
}

TEST(ReplayedMethods, OfWhatAMethodStartsWithIsWarmUp) {
  TrainingRequest request = make_request({.workers = 2}, "ring", "", "ddp");
  request.strategy.method = parse_method("post-local-sgd:2:5");
  request.budget = Seconds(1e-6);  // is spent at once, and ends no start
  const Replayed all = replay_on_threads(request, small_replay(0.1));
  EXPECT_THAT(all.failures, Each(IsEmpty()));
  int warm_up = 0, timed = 0;
  for (const StepReport& step : all.steps) ++(step.warmup ? warm_up : timed);
  EXPECT_EQ(warm_up, 2 * 3) << "six iterations are three cycles";
  EXPECT_EQ(timed, 2);
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
  Profile profile;
  profile.gpus_per_node = 2;
  const Moved simulated = StepSimulator(profile, world).run(replayed.timeline, request.strategy).sent.value();
  // Each encoded part of an all-reduce has a scale of its own, and whom a rank of a gossip sends to is drawn at random.
  const double tolerance = request.strategy.compressor.verbatim() || world.servers > 0 ? 1e-9 : 2e-3;
  const auto sum = [](const Moved& moved) { return moved.within + moved.between; };
  for (const bool shares_memory : {false, true}) {
    // Ranks that poll shared memory take minutes under a sanitizer.
    if (shares_memory && support::kSanitized) continue;
    const Replayed all = replay_on(shares_memory ? support::make_shared_thread_endpoints(world.ranks(), 16 << 20)
                                                 : make_thread_endpoints(world.ranks()),
                                   request, replayed);
    ASSERT_THAT(all.failures, Each(IsEmpty()));
    EXPECT_NEAR(sum(all.sent), sum(simulated), tolerance * sum(simulated)) << shares_memory;
    if (std::string_view(method) == "gossip") continue;
    EXPECT_NEAR(all.sent.within, simulated.within, tolerance * simulated.within) << shares_memory;
  }
}

TEST(ReplayedMethods, SendsAsManyBytesAsASimulationOfItsMethod) {
  for (int first : {0, 1}) {
    const char* fusion = first == 0 ? "none" : "ddp";
    for (const char* method :
         {"synchronous", "zero:1", "zero:2", "local-sgd:2", "diloco:2", "diloco:4:2:1", "post-local-sgd:2:2",
          "decentralized", "gossip", "1-bit-adam:2", "qadam:2", "fsdp", "fsdp-keep", "hsdp:2"})
      // Under a sanitizer each method has one of both policies.
      if (!support::kSanitized || first++ % 2 == 0) expect_to_send_as_simulated(method, {.workers = 4}, fusion);
    expect_to_send_as_simulated("diloco:4:2:1", {.workers = 4}, fusion, "int8");
    for (const World& world : {World{.workers = 4, .servers = 2}, World{.workers = 4, .servers = 4, .colocated = true}})
      for (const char* method : {"synchronous", "local-sgd:2", "async-ps", "ssp:1"})
        expect_to_send_as_simulated(method, world, fusion);
  }
}

TEST(ReplayedMethods, SendsCodedPushesAndParametersAsTheyAreToServersThatDoNotWait) {
  for (const World& world : {World{.workers = 4, .servers = 2}, World{.workers = 4, .servers = 4, .colocated = true}})
    for (const char* method : {"async-ps", "ssp:1"})
      for (const char* compressor : {"fp16", "int8", "ef:topk:0.01", "ef:onebit", "qsgd"}) {
        // Under a sanitizer each method has one of both places of servers.
        if (support::kSanitized && world.colocated != (method == std::string_view("ssp:1"))) continue;
        expect_to_send_as_simulated(method, world, "none", compressor);
      }
}

TEST(ReplayedMethods, TakesAShareOfTheUpdateWhereEachRankAppliesItsOwn) {
  ReplayRequest replayed = small_replay(2);
  replayed.timeline.update = Seconds(0.08);
  TrainingRequest request = make_request({.workers = 4}, "ring", "", "ddp");
  request.strategy.method = parse_method("zero:1");
  expect_to_take(request, replayed, Seconds(2 * (0.03 + 0.02)), Seconds(2 * (0.03 + 0.08)),
                 [](const StepReport& step) { return step.step; });
}

}  // namespace
}  // namespace hbench::replay_methods_test
