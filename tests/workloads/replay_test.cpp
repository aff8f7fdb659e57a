// Replayed steps: real gradients through the real engine, at the times of a timeline.

#include "workloads/engine/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/workloads/replay_cases.hpp"
#include "workloads/simulation/step_simulator.hpp"

namespace hbench::replay_test {
namespace {

using Clock = std::chrono::steady_clock;

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
      const Replayed all = expect_to_end_alike(request, small_replay());
      EXPECT_EQ(all.steps.size(), 3U * static_cast<std::size_t>(variant.world.workers));
    }
}

TEST(Replay, TakesTheTimelineTimesTheDilation) {
  for (const double dilation : {1.0, 4.0}) {
    TrainingRequest request = make_request({.workers = 2}, "ring", "", "ddp");
    request.dilation = dilation;
    for (const StepReport& step : replay_on_threads(request, small_replay(dilation)).steps)
      EXPECT_GE(step.step.value, 0.03 * dilation);
  }
}

// The update is no wait for gradients.
TEST(Replay, TakesTheUpdateOnTopOfThePasses) {
  ReplayRequest replayed = small_replay(2);
  replayed.timeline.update = Seconds(0.02);
  TrainingRequest request = make_request({.workers = 2}, "ring", "", "ddp");
  request.steps = 10;
  expect_to_take(request, replayed, Seconds(0.1), Seconds(0.04), [](const StepReport& step) { return step.exposed; });
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
        const double since = seconds_since(begin);
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
  const auto message_of = [](std::size_t element, bool whole) {
    return refusal_of([&] { end_step([&](std::vector<float>& sums) { sums[element] += 1; }, whole); },
                      ExitCode::wrong_data);
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
}  // namespace hbench::replay_test
