// The engine without LibTorch: the "gradients" are numbers whose sums are exact.

#include <fmt/format.h>

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/workloads/engine_ranks.hpp"

namespace hbench::engine_test {
namespace {

using support::LazyDevice;

struct Variant {
  const char* algorithm;
  const char* placement;
  World world;
};

constexpr Variant kVariants[] = {
    {"ring", "", {.workers = 1}},
    {"ring", "", {.workers = 2}},
    {"ring", "", {.workers = 5}},
    {"ps", "greedy", {.workers = 2, .servers = 1}},
    {"ps", "sliced", {.workers = 3, .servers = 2}},
    {"ps", "round-robin", {.workers = 2, .servers = 2, .colocated = true}},
    {"ps", "sliced", {.workers = 1, .servers = 1, .colocated = true}},
};

/// A rank's steps, and how many of their sums are wrong.
using Work = std::function<int(const TrainingRequest&, Endpoint&, int& wrong)>;

void expect_sums(const Variant& variant, const char* fusion, const Work& work_of, const DeviceFactory& devices = {}) {
  SCOPED_TRACE(fmt::format("{} {} workers {} servers {} {}", variant.algorithm, variant.world.workers,
                           variant.world.servers, variant.placement, fusion));
  const TrainingRequest request = make_request(variant.world, variant.algorithm, variant.placement, fusion);
  const auto workers = static_cast<std::size_t>(variant.world.workers);
  std::vector<int> wrong(workers), steps(workers);
  const auto train = [&](Endpoint& endpoint) {
    const auto rank = static_cast<std::size_t>(endpoint.transport().rank());
    int ignored = 0;
    const int done = work_of(request, endpoint, rank < workers ? wrong[rank] : ignored);
    if (rank < workers) steps[rank] = done;
  };
  EXPECT_THAT(on_all_ranks(variant.world.ranks(), train, devices), Each(IsEmpty()));
  EXPECT_THAT(wrong, Each(0));
  EXPECT_THAT(steps, Each(kSteps));
}

TEST(Engine, SumsEveryGradientInEveryStepWhateverTheAlgorithmAndTheFusion) {
  const Work work_of = [](const TrainingRequest& request, Endpoint& endpoint, int& wrong) {
    return work(request, endpoint, announce_all, wrong);
  };
  for (const Variant& variant : kVariants)
    for (const char* fusion :
         {"none", "threshold:1KiB", "horovod:16KiB:100us", "ddp", "byteps:4KB:10KB", "mg-wfbp:1us:1Gbit/s"})
      expect_sums(variant, fusion, work_of);
}

/// Gradients are announced before they are there, and sums told before they are made.
TEST(Engine, SumsEveryGradientOnDevicesThatDoTheirWorkLater) {
  const Work work_of = [](const TrainingRequest& request, Endpoint& endpoint, int& wrong) {
    LazyDevice computing(static_cast<unsigned>(endpoint.transport().rank()) + 100);
    const Announce announce_early = [&](Handover& handover, Rank own, int step) {
      const int tensors = test_layout().tensors();
      for (int i = 0; i < tensors; ++i)
        handover.announce(kBackward, (i + own + step) % tensors, computing.record_event());
    };
    return work(request, endpoint, announce_early, wrong, computing);
  };
  for (const Variant& variant : kVariants)
    for (const char* fusion : {"none", "horovod:16KiB:100us", "ddp", "byteps:4KB:10KB"})
      expect_sums(variant, fusion, work_of, lazy_devices());
}

/// What steps of a method by momenta make of numbers on all ranks, whose devices are these.
std::vector<std::vector<std::vector<float>>> exchanged_momenta(const TrainingRequest& request,
                                                               const DeviceFactory& devices) {
  std::vector<std::vector<std::vector<float>>> all(static_cast<std::size_t>(request.world.workers));
  const auto failures = on_all_ranks(
      request.world.workers,
      [&](Endpoint& endpoint) {
        const auto rank = static_cast<std::size_t>(endpoint.transport().rank());
        const std::shared_ptr<Device> computing = devices ? devices(static_cast<Rank>(rank)) : shared_host_device();
        const Announce announce = [&](Handover& handover, Rank, int) {
          for (int tensor = test_layout().tensors() - 1; tensor >= 0; --tensor)
            handover.announce(kBackward, tensor, computing->record_event());
        };
        all[rank] = exchanged_by_step(request, endpoint, announce, *computing);
      },
      devices);
  EXPECT_THAT(failures, Each(IsEmpty()));
  return all;
}

// With codes of their own, error feedback on both sides among them.
TEST(Engine, ExchangesMomentaOnDevicesThatDoTheirWorkLaterAsInHostMemory) {
  for (const char* method : {"1-bit-adam:2", "qadam:2"})
    for (const char* fusion : {"none", "ddp"})
      for (const int workers : {1, 2, 3}) {
        SCOPED_TRACE(fmt::format("{} {} {} workers", method, fusion, workers));
        TrainingRequest request = make_request({.workers = workers}, "ring", "", fusion);
        request.strategy.method = parse_method(method);
        request.strategy.compressor = parse_compressor(request.strategy.method.method->compressor);
        const auto right = exchanged_momenta(request, {}), found = exchanged_momenta(request, lazy_devices());
        EXPECT_EQ(found, right);
        for (const auto& rank : found) EXPECT_EQ(rank, found[0]);
        ASSERT_GT(found[0].size(), 3U);
        for (std::size_t i = 0; i < found[0][1].size(); ++i)
          ASSERT_EQ(found[0][1][i], expected_sum(workers, 1, i)) << "gradients travel as they are before";
      }
}

TEST(Engine, StopsAfterOneTimedStepWhenTheBudgetIsSpent) {
  TrainingRequest request = make_request({.workers = 3}, "ring", "", "none");
  request.warmup_steps = 1000;
  request.steps = 1000;
  request.budget = Seconds(1e-9);
  std::vector<int> steps(3);
  const auto failures = on_all_ranks(3, [&](Endpoint& endpoint) {
    int wrong = 0;
    steps[static_cast<std::size_t>(endpoint.transport().rank())] = work(request, endpoint, announce_all, wrong);
  });
  EXPECT_THAT(failures, Each(IsEmpty()));
  EXPECT_THAT(steps, Each(2)) << "one step of warm-up, one timed";
}

TEST(Engine, NamesTheRankWhoseGradientsDoNotCome) {
  TrainingRequest request = make_request({.workers = 3, .servers = 1}, "ps", "greedy", "none");
  request.timeout = Seconds(2);
  const Announce rank1_stops = [](Handover& handover, Rank rank, int step) {
    if (rank != 1 || step < 2) return announce_all(handover, rank, step);
    handover.announce(kBackward, 3);
    throw std::runtime_error("struck by a test");
  };
  const auto failures = on_all_ranks(4, [&](Endpoint& endpoint) {
    int wrong = 0;
    work(request, endpoint, rank1_stops, wrong);
  });
  EXPECT_EQ(failures[0], "step 2: waited 2 s for the gradients of rank 1");
  EXPECT_EQ(failures[1], "struck by a test");
  EXPECT_EQ(failures[2], "step 2: waited 2 s for rank 1, says rank 0");
  EXPECT_EQ(failures[3], "step 2: waited 2 s for rank 1, says rank 0");
}

// A bucket that all have announced is late with a worker that stops before its other gradients: whom it waits for is
// not who stopped.
TEST(Engine, BlamesWorkersWhoseGradientsAreMissingOnceItsOwnAreThere) {
  const TrainingRequest request = make_request({.workers = 3}, "ring", "", "none");
  const auto endpoints = make_thread_endpoints(3);
  const StepPlan plan = request.strategy.method.plan(true);
  const auto coordinator = make_coordinator_side(request, endpoints[0]->control(), test_layout(), plan);
  const auto worker = make_worker_side(request, endpoints[1]->control(), plan);
  const std::vector<int> some{3}, others{0, 1, 2, 4};
  for (Negotiator* side : {coordinator.get(), worker.get()}) {
    side->begin_step(Negotiator::Clock::now(), 0);
    side->announce(kBackward, some);
    side->poll({}, 0);
  }
  coordinator->report_missing();  // nobody: its own are missing, too
  worker->report_missing();
  coordinator->announce(kBackward, others);
  expect_error([&] { coordinator->report_missing(); }, ExitCode::lost_rank, HasSubstr("the gradients of rank 1, 2"),
               ::testing::_);
}

TEST(Engine, NamesTheServerThatDoesNotAnswer) {
  TrainingRequest request = make_request({.workers = 2, .servers = 1}, "ps", "greedy", "none");
  request.timeout = Seconds(2);
  const auto failures = on_all_ranks(3, [&](Endpoint& endpoint) {
    if (endpoint.transport().rank() == 2) {
      share_layout(nullptr, endpoint.control(), request.timeout);
      return;
    }
    int wrong = 0;
    work(request, endpoint, announce_all, wrong);
  });
  EXPECT_THAT(failures[0], HasSubstr("rank 2"));
  EXPECT_THAT(failures[1], HasSubstr("rank 2"));
}

TEST(Layout, IsRankZerosEverywhere) {
  const GradientLayout mine = test_layout();
  GradientLayout other = mine;
  std::ranges::reverse(other.parameters);
  std::ranges::reverse(other.elements);
  std::vector<GradientLayout> seen(3);
  const auto failures = on_all_ranks(3, [&](Endpoint& endpoint) {
    const auto rank = static_cast<std::size_t>(endpoint.transport().rank());
    const GradientLayout* const own[] = {&mine, &other, nullptr};
    seen[rank] = share_layout(own[rank], endpoint.control(), Seconds(10));
  });
  EXPECT_THAT(failures, Each(IsEmpty()));
  EXPECT_THAT(seen, Each(mine));
}

TEST(Layout, RefusesAWorkerWithOtherTensors) {
  const GradientLayout mine = test_layout();
  GradientLayout other = mine;
  ++other.elements[2];
  const auto failures = on_all_ranks(2, [&](Endpoint& endpoint) {
    share_layout(endpoint.transport().rank() == 0 ? &mine : &other, endpoint.control(), Seconds(10));
  });
  EXPECT_EQ(failures[1], "rank 1 trains a model with other tensors than rank 0");
}

TEST(GradientBucket, IsContiguousOnlyWhenItsTensorsAreNeighboursInOrder) {
  EXPECT_TRUE(contiguous({4}));
  EXPECT_TRUE(contiguous({2, 3, 4}));
  EXPECT_FALSE(contiguous({2, 4}));
  EXPECT_FALSE(contiguous({3, 2}));
}

}  // namespace
}  // namespace hbench::engine_test
