// The engine without LibTorch: the "gradients" are numbers whose sums are exact.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "collectives/base/table.hpp"
#include "tests/collectives/lazy_device.hpp"
#include "workloads/engine/communicator.hpp"
#include "workloads/engine/layout.hpp"
#include "workloads/engine/role.hpp"

namespace hbench {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LazyDevice;

constexpr int kSteps = 4;

/// Sizes that do not divide evenly, one tensor much larger than the others, and a very small one.
GradientLayout test_layout() { return {.parameters = {4, 3, 2, 1, 0}, .elements = {7, 1, 5000, 64, 129}}; }

float value(int worker, int step, std::size_t element) {
  return static_cast<float>((worker + 1) * (static_cast<int>(element % 97) + 3 * step + 1));
}

float expected_sum(int workers, int step, std::size_t element) {
  float sum = 0;
  for (int worker = 0; worker < workers; ++worker) sum += value(worker, step, element);
  return sum;
}

TrainingRequest make_request(World world, std::string_view algorithm, std::string_view placement,
                             std::string_view fusion) {
  TrainingRequest request;
  request.world = world;
  request.algorithm = parse_algorithm_rule(algorithm);
  if (!placement.empty()) request.placement = &find_entry(placements(), placement, "placement");
  request.fusion = parse_fusion(fusion);
  request.warmup_steps = 1;
  request.steps = kSteps - 1;
  return request;
}

/// What a worker does in a step; replaced to make it misbehave.
using Announce = std::function<void(Handover&, Rank, int step)>;

/// Each worker announces in an order of its own.
void announce_all(Handover& handover, Rank rank, int step) {
  const int tensors = test_layout().tensors();
  for (int i = 0; i < tensors; ++i) handover.announce((i + rank + step) % tensors);
}

std::vector<float> values(int worker, int step, std::size_t elements) {
  std::vector<float> all(elements);
  for (std::size_t i = 0; i < elements; ++i) all[i] = value(worker, step, i);
  return all;
}

/// Returns how many steps there were, and counts sums that are wrong. `computing` makes the gradients.
int work(const TrainingRequest& request, Endpoint& endpoint, const Announce& announce, int& wrong,
         Device& computing = host_device()) {
  const Rank rank = endpoint.transport().rank();
  const GradientLayout own = test_layout();
  const GradientLayout layout =
      share_layout(rank < request.world.workers ? &own : nullptr, endpoint.control(), request.timeout);
  const auto elements = static_cast<std::size_t>(layout.total());
  const std::span<std::byte> memory = endpoint.allocate(elements * sizeof(float));
  drain(endpoint.device());
  Communicator communicator(request, endpoint, layout, {reinterpret_cast<float*>(memory.data()), elements});
  if (rank >= request.world.workers) {
    communicator.serve();
    return 0;
  }
  Handover handover;
  std::jthread thread([&] { communicator.run(handover); });
  struct Closer {
    Handover& handover;
    ~Closer() { handover.close(); }
  } const closer{handover};
  for (int step = 0;; ++step) {
    handover.begin_step(Handover::Clock::now());
    const std::vector<float> gradients = values(rank, step, elements);
    computing.copy(std::as_bytes(std::span(gradients)), memory);
    announce(handover, rank, step);
    const StepEnd end = handover.wait_for_step_end();
    computing.wait(end.reduced);
    std::vector<float> sums(elements);
    computing.read(memory, std::as_writable_bytes(std::span(sums)));
    for (std::size_t i = 0; i < elements; ++i) wrong += sums[i] != expected_sum(request.world.workers, step, i) ? 1 : 0;
    if (end.next == Phase::stop) return step + 1;
  }
}

/// One thread per rank, as in a job; `body` gets its endpoint. Returns what each rank failed with, or "".
std::vector<std::string> on_all_ranks(int ranks, const std::function<void(Endpoint&)>& body,
                                      const DeviceFactory& devices = {}) {
  auto endpoints = make_thread_endpoints(ranks, devices);
  std::vector<std::string> failures(endpoints.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < endpoints.size(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          body(*endpoints[rank]);
        } catch (const std::exception& error) {
          failures[rank] = error.what();
        }
      });
    }
  }
  return failures;
}

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

TEST(Engine, SumsEveryGradientInEveryStepWhateverTheAlgorithmAndTheFusion) {
  for (const Variant& variant : kVariants) {
    for (const char* fusion :
         {"none", "threshold:1KiB", "horovod:16KiB:100us", "ddp", "byteps:4KB:10KB", "mg-wfbp:1us:1Gbit/s"}) {
      SCOPED_TRACE(fmt::format("{} {} workers {} servers {} {}", variant.algorithm, variant.world.workers,
                               variant.world.servers, variant.placement, fusion));
      const TrainingRequest request = make_request(variant.world, variant.algorithm, variant.placement, fusion);
      const auto workers = static_cast<std::size_t>(variant.world.workers);
      std::vector<int> wrong(workers), steps(workers);
      const auto failures = on_all_ranks(variant.world.ranks(), [&](Endpoint& endpoint) {
        const auto rank = static_cast<std::size_t>(endpoint.transport().rank());
        int ignored = 0;
        const int done = work(request, endpoint, announce_all, rank < workers ? wrong[rank] : ignored);
        if (rank < workers) steps[rank] = done;
      });
      EXPECT_THAT(failures, Each(IsEmpty()));
      EXPECT_THAT(wrong, Each(0));
      EXPECT_THAT(steps, Each(kSteps));
    }
  }
}

/// Gradients are announced before they are there, and sums told before they are made.
TEST(Engine, SumsEveryGradientOnDevicesThatDoTheirWorkLater) {
  const DeviceFactory lazy = [](Rank rank) { return std::make_shared<LazyDevice>(static_cast<unsigned>(rank) + 1); };
  for (const Variant& variant : kVariants) {
    for (const char* fusion : {"none", "horovod:16KiB:100us", "ddp", "byteps:4KB:10KB"}) {
      SCOPED_TRACE(fmt::format("{} {} workers {} servers {}", variant.algorithm, variant.world.workers,
                               variant.world.servers, fusion));
      const TrainingRequest request = make_request(variant.world, variant.algorithm, variant.placement, fusion);
      const auto workers = static_cast<std::size_t>(variant.world.workers);
      std::vector<int> wrong(workers), steps(workers);
      const auto train = [&](Endpoint& endpoint) {
        const auto rank = static_cast<std::size_t>(endpoint.transport().rank());
        LazyDevice computing(static_cast<unsigned>(rank) + 100);
        const Announce announce_early = [&](Handover& handover, Rank own, int step) {
          const int tensors = test_layout().tensors();
          for (int i = 0; i < tensors; ++i) handover.announce((i + own + step) % tensors, computing.mark());
        };
        int ignored = 0;
        const int done = work(request, endpoint, announce_early, rank < workers ? wrong[rank] : ignored, computing);
        if (rank < workers) steps[rank] = done;
      };
      const auto failures = on_all_ranks(variant.world.ranks(), train, lazy);
      EXPECT_THAT(failures, Each(IsEmpty()));
      EXPECT_THAT(wrong, Each(0));
      EXPECT_THAT(steps, Each(kSteps));
    }
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
    handover.announce(3);
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
TEST(Leader, BlamesWorkersWhoseGradientsAreMissingOnceItsOwnAreThere) {
  const TrainingRequest request = make_request({.workers = 3}, "ring", "", "none");
  const auto endpoints = make_thread_endpoints(3);
  const auto leader = make_leader(request, endpoints[0]->control(), test_layout());
  const auto follower = make_follower(request, endpoints[1]->control());
  const std::vector<int> some{3}, others{0, 1, 2, 4};
  for (Role* role : {leader.get(), follower.get()}) {
    role->begin_step(Role::Clock::now());
    role->announce(some);
    role->poll(0, 0);
  }
  leader->blame_missing();  // nobody: its own are missing, too
  follower->blame_missing();
  leader->announce(others);
  try {
    leader->blame_missing();
    FAIL() << "nobody is blamed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::lost_rank);
    EXPECT_THAT(error.what(), HasSubstr("the gradients of rank 1, 2"));
  }
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

TEST(Bucket, IsContiguousOnlyWhenItsTensorsAreNeighboursInOrder) {
  EXPECT_TRUE(contiguous({4}));
  EXPECT_TRUE(contiguous({2, 3, 4}));
  EXPECT_FALSE(contiguous({2, 4}));
  EXPECT_FALSE(contiguous({3, 2}));
}

}  // namespace
}  // namespace hbench
