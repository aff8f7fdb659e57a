// Servers that apply gradients as they come: what they have added up, and who waits for whom.

#include "workloads/engine/async_servers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tests/support/matchers.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/workloads/counting_compute.hpp"

namespace hbench::async_servers_test {
namespace {

TrainingRequest counting_request(const char* method, World world, const char* placement = "greedy",
                                 const char* fusion = "none") {
  TrainingRequest request = make_request(world, "ps", placement, fusion);
  request.strategy.method = parse_method(method);
  request.learning_rate = -world.workers;
  request.strategy.server_mode = world.colocated ? ServerMode::colocated : ServerMode::dedicated;
  return request;
}

void expect_every_push_once(const TrainingRequest& request, const DeviceFactory& devices = {}) {
  const Trained all = train_counting(request, {.devices = devices});
  EXPECT_THAT(all.failures, Each(IsEmpty()));
  float expected = 0;
  for (std::size_t worker = 0; worker < all.iterations.size(); ++worker) {
    EXPECT_EQ(all.steps[worker].size(), static_cast<std::size_t>(kSteps));
    expected += static_cast<float>(all.iterations[worker]) * static_cast<float>(worker + 1);
  }
  for (const auto& parameters : all.parameters) {
    ASSERT_EQ(parameters.size(), static_cast<std::size_t>(test_layout().total()));
    EXPECT_THAT(parameters, Each(expected));
  }
}

TEST(AsyncServers, ApplyWhatEachWorkerPushesOnce) {
  const World worlds[] = {{.workers = 1, .servers = 1},
                          {.workers = 3, .servers = 1},
                          {.workers = 3, .servers = 2},
                          {.workers = 2, .servers = 2, .colocated = true},
                          {.workers = 4, .servers = 3, .colocated = true}};
  const std::vector<const char*> fusions =
      support::kSanitized ? std::vector{"ddp"} : std::vector{"none", "ddp", "horovod:64MiB:1ms"};
  for (const char* method : {"async-ps", "ssp:0", "ssp:2"})
    for (const World& world : worlds)
      for (const char* placement : {"greedy", "round-robin", "sliced"})
        for (const char* fusion : fusions)
          for (const bool overlap : {true, false}) {
            SCOPED_TRACE(fmt::format("{} {}+{} {} {}", method, world.workers, world.servers, placement, fusion));
            TrainingRequest request = counting_request(method, world, placement, fusion);
            request.strategy.overlap = overlap;
            expect_every_push_once(request);
          }
}

TEST(AsyncServers, ApplyWhatEachWorkerPushesOnceOnDevicesThatDoTheirWorkLater) {
  for (const char* method : {"async-ps", "ssp:1"})
    for (const World& world : {World{.workers = 3, .servers = 2}, World{.workers = 2, .servers = 2, .colocated = true}})
      expect_every_push_once(counting_request(method, world, "sliced"), lazy_devices());
}

/// What `pushes` of a tensor whose gradient is `gradient` everywhere add up to, coded one by one.
std::vector<float> sum_of_pushes(const CompressorChoice& compressor, std::int64_t elements, float gradient,
                                 int pushes) {
  const auto count = static_cast<std::size_t>(elements);
  std::vector<float> sum(count), lost(count), decoded(count);
  std::vector<std::byte> bytes(static_cast<std::size_t>(compressor.codec->max_wire_bytes(elements)));
  for (int push = 0; push < pushes; ++push) {
    std::vector<float> sent(count, gradient);
    if (compressor.error_feedback) std::ranges::transform(sent, lost, sent.begin(), std::plus());
    compressor.codec->encode(sent, {}, bytes);
    compressor.codec->decode(bytes, TransferKind::copy, decoded);
    std::ranges::transform(sent, decoded, lost.begin(), std::minus());
    std::ranges::transform(sum, decoded, sum.begin(), std::plus());
  }
  return sum;
}

// Dedicated servers: all pushes travel. Sums of small whole numbers are exact in any order.
void expect_what_was_coded(const char* method, const char* compressor, const DeviceFactory& devices = {}) {
  SCOPED_TRACE(fmt::format("{} {}", method, compressor));
  TrainingRequest request = counting_request(method, {.workers = 3, .servers = 2});
  request.strategy.compressor = parse_compressor(compressor);
  const Trained all = train_counting(request, {.devices = devices});
  EXPECT_THAT(all.failures, Each(IsEmpty()));
  std::vector<float> expected;
  for (const std::int64_t elements : test_layout().elements) {
    std::vector<float> sums(static_cast<std::size_t>(elements));
    for (std::size_t worker = 0; worker < all.iterations.size(); ++worker) {
      const std::vector<float> own =
          sum_of_pushes(request.strategy.compressor, elements, static_cast<float>(worker + 1), all.iterations[worker]);
      std::ranges::transform(sums, own, sums.begin(), std::plus());
    }
    expected.insert(expected.end(), sums.begin(), sums.end());
  }
  for (const auto& parameters : all.parameters) EXPECT_EQ(parameters, expected);
}

TEST(AsyncServers, ApplyWhatCodedPushesSay) {
  for (const char* method : {"async-ps", "ssp:1"})
    for (const char* compressor : {"fp16", "topk:0.25", "ef:topk:0.25"}) {
      expect_what_was_coded(method, compressor);
      expect_what_was_coded(method, compressor, lazy_devices());
    }
}

// One element of four in each push: with error feedback the n-th brings n gradients of an element that has waited.
TEST(SumOfPushes, IsAsByHand) {
  const auto sum = [](const char* compressor) { return sum_of_pushes(parse_compressor(compressor), 4, 1, 4); };
  EXPECT_THAT(sum("ef:topk:0.25"), UnorderedElementsAre(1, 2, 3, 4));
  EXPECT_THAT(sum("topk:0.25"), UnorderedElementsAre(0, 0, 0, 4));
}

/// How far a parameter of 0 is moved by steps of one gradient.
float moved(const OptimizerChoice& optimizer, double rate, int steps) {
  std::vector<float> parameter(1), gradient{0.5F};
  DeviceNumbers number(parameter);
  std::vector<std::vector<float>> kept(static_cast<std::size_t>(optimizer.state()), std::vector<float>(1));
  std::vector<DeviceNumbers> numbers(kept.begin(), kept.end());
  std::vector<Numbers*> state;
  for (DeviceNumbers& each : numbers) state.push_back(&each);
  for (int step = 1; step <= steps; ++step)
    optimizer.apply({.rate = rate, .number = step}, number, DeviceNumbers(gradient), state);
  return parameter.front();
}

// Pushes of one gradient come to the same in any order.
TEST(AsyncServers, MoveByAPushOfEachWorkerAsFarAsASynchronousStepWhateverTheOptimizer) {
  constexpr int kWorkers = 3;
  for (const Optimizer* const each : optimizers()) {
    SCOPED_TRACE(each->name);
    TrainingRequest request = counting_request("async-ps", {.workers = kWorkers, .servers = 2});
    request.strategy.optimizer = parse_optimizer(each->name);
    request.learning_rate = {};
    const Trained all = train_counting(request, {.gradient = 0.5F});
    EXPECT_THAT(all.failures, Each(IsEmpty()));
    const int pushes = std::accumulate(all.iterations.begin(), all.iterations.end(), 0);
    for (const auto& parameters : all.parameters)
      EXPECT_THAT(parameters, Each(moved(*request.strategy.optimizer, each->rate / kWorkers, pushes)));
    const float pushed = moved(*request.strategy.optimizer, each->rate / kWorkers, 100 * kWorkers);
    const float synchronous = moved(*request.strategy.optimizer, each->rate, 100);
    // Momentum of 0.9 lacks 9 of 300 pushes, or of 100 steps, on its way to its size.
    const bool gains = each->name == "momentum" || each->name == "nesterov";
    EXPECT_NEAR(pushed / synchronous, gains ? 1.06 : 1, 0.02);
  }
}

std::int64_t applied(const std::map<int, std::int64_t>& unseen) {
  return std::accumulate(unseen.begin(), unseen.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& each) { return sum + each.second; });
}

TEST(AsyncServers, CountEveryGradientWithTheOthersThatItHadNotSeen) {
  for (const World& world : {World{.workers = 3, .servers = 2}, World{.workers = 3, .servers = 2, .colocated = true}}) {
    const Trained all = train_counting(counting_request("async-ps", world));
    const int iterations = std::accumulate(all.iterations.begin(), all.iterations.end(), 0);
    EXPECT_EQ(applied(all.unseen), iterations * test_layout().tensors());
  }
}

TEST(AsyncServers, OfNoStalenessKeepWorkersTogether) {
  const Trained all = train_counting(counting_request("ssp:0", {.workers = 4, .servers = 1}));
  EXPECT_THAT(all.failures, Each(IsEmpty()));
  EXPECT_EQ(all.unseen.rbegin()->first, 3) << "of the same iteration at most";
}

constexpr int kWorkers = 4, kSlower = 4;
constexpr Seconds kPass{0.02};  // outlasts what threads of a busy machine wait for a core

Trained train_with_a_slow_worker(const char* method) {
  TrainingRequest request = counting_request(method, {.workers = kWorkers, .servers = 1});
  request.steps = 8;
  const Trained all = train_counting(request, {.pass = [](Rank rank) { return rank == 1 ? kSlower * kPass : kPass; }});
  EXPECT_THAT(all.failures, Each(IsEmpty()));
  return all;
}

TEST(AsyncServers, LetASlowWorkerHoldUpNobody) {
  EXPECT_NEAR(share_done(train_with_a_slow_worker("async-ps")), (kWorkers - 1 + 1.0 / kSlower) / kWorkers, 0.1);
}

TEST(AsyncServers, LetASlowWorkerHoldUpAllWhereStalenessIsBounded) {
  const Trained all = train_with_a_slow_worker("ssp:0");
  for (const StepReport& step : all.steps[0]) EXPECT_TRUE(step.warmup || step.step >= 0.9 * kSlower * kPass);
  EXPECT_LE(std::ranges::max(all.iterations) - std::ranges::min(all.iterations), 2);
}

// Its iterations are the least that any worker does: others go on untimed until it has done its own.
TEST(AsyncServers, LetEveryWorkerDoAllTimedStepsBesideAllOthers) {
  const Trained all = train_counting(counting_request("async-ps", {.workers = 3, .servers = 1}),
                                     {.pass = [](Rank rank) { return Seconds(rank == 2 ? 0.02 : 0.002); }});
  EXPECT_THAT(all.failures, Each(IsEmpty()));
  for (const auto& steps : all.steps) EXPECT_EQ(steps.size(), static_cast<std::size_t>(kSteps));
  EXPECT_GT(all.iterations[0], all.iterations[2]);
}

TEST(AsyncServers, NameAWorkerThatStopsAnswering) {
  for (const char* method : {"async-ps", "ssp:1"}) {
    SCOPED_TRACE(method);
    TrainingRequest request = counting_request(method, {.workers = 3, .servers = 1});
    request.steps = 100000;
    request.timeout = Seconds(0.5);
    Counting how{.pass = [](Rank) { return Seconds(1e-3); }};
    how.stop = [](Rank rank, const StepReport& step) {
      if (rank == 1 && step.iteration == 2) throw Error(ExitCode::internal, "struck");
    };
    const Trained all = train_counting(request, how);
    EXPECT_EQ(all.failures[1], "struck");
    EXPECT_THAT(all.failures, Each(Not(IsEmpty()))) << "all end";
    EXPECT_THAT(all.failures, Contains(HasSubstr("waited 500 ms for rank 1")));
  }
}

TEST(AsyncServers, AreNamedWhenTheyDoNotAnswer) {
  TrainingRequest request = counting_request("async-ps", {.workers = 2, .servers = 1});
  request.timeout = Seconds(0.5);
  const auto failures = on_all_ranks(3, [&](Endpoint& endpoint) {
    const Rank rank = endpoint.transport().rank();
    if (rank == 2) {
      const GradientLayout layout = share_layout(nullptr, endpoint.control(), request.timeout);
      std::vector<float> memory(static_cast<std::size_t>(layout.total()));
      const StepPlan plan = request.strategy.method.plan(true);
      AsyncServers(request, endpoint, layout, plan, {.gradients = memory, .parameters = memory});
      throw Error(ExitCode::internal, "struck");
    }
    CountingCompute compute(rank, Seconds(1e-3));
    train_together(compute, request, endpoint, [](const StepReport&) {});
  });
  for (const int worker : {0, 1}) EXPECT_THAT(failures[static_cast<std::size_t>(worker)], HasSubstr("for rank 2"));
}

}  // namespace
}  // namespace hbench::async_servers_test
