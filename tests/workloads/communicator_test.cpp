// How the communication thread waits: it must not take the core from the compute thread, and must not miss anything.

#include "workloads/engine/communicator.hpp"

#include <fmt/format.h>

#include "tests/collectives/shared_ranks.hpp"
#include "tests/support/matchers.hpp"
#include "tests/workloads/counting_doorbell.hpp"
#include "tests/workloads/engine_ranks.hpp"

namespace hbench::communicator_test {
namespace {

using support::CountingDoorbell;
using namespace std::chrono_literals;

/// An endpoint without a doorbell, like MPI's.
class PolledEndpoint final : public Endpoint {
 public:
  explicit PolledEndpoint(std::unique_ptr<Endpoint> inner) : inner_(std::move(inner)) {}
  Transport& transport() override { return inner_->transport(); }
  Transport& control() override { return inner_->control(); }
  Device& device() override { return inner_->device(); }
  std::span<std::byte> allocate(std::size_t bytes) override { return inner_->allocate(bytes); }
  [[noreturn]] void abort(int) override { throw std::logic_error("a test stopped the job"); }

 private:
  std::unique_ptr<Endpoint> inner_;
};

/// A worker whose compute thread is the test.
class Worker {
 public:
  Worker(const TrainingRequest& request, Endpoint& endpoint)
      : memory_(endpoint.allocate(static_cast<std::size_t>(test_layout().total()) * sizeof(float))),
        plan_(request.strategy.method.plan(request.strategy.overlap)),
        communicator_(request, endpoint, layout_, plan_,
                      {.gradients = {reinterpret_cast<float*>(memory_.data()), memory_.size() / sizeof(float)},
                       .parameters = {}}),
        doorbell_(communicator_.doorbell()),
        handover_(doorbell_),
        thread_([this] { communicator_.run(handover_); }) {}
  ~Worker() { handover_.close(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  CountingDoorbell& doorbell() { return doorbell_; }
  Handover& handover() { return handover_; }

 private:
  GradientLayout layout_ = test_layout();
  std::span<std::byte> memory_;
  StepPlan plan_;
  Communicator communicator_;
  CountingDoorbell doorbell_;
  Handover handover_;
  std::jthread thread_;
};

constexpr std::chrono::nanoseconds kHealthCheck = 7500ms;  // an eighth of the default time-out, 60 s

TEST(Communicator, DoesNotWakeWhileNothingIsAnnounced) {
  const TrainingRequest request = make_request({.workers = 2}, "ring", "", "none");
  const auto endpoints = make_thread_endpoints(2);
  Worker coordinator(request, *endpoints[0]);
  Worker worker(request, *endpoints[1]);
  for (Worker* each : {&coordinator, &worker}) {
    ASSERT_TRUE(each->doorbell().waits_begin(1));
    each->handover().begin_step({Handover::Clock::now()});
    ASSERT_TRUE(each->doorbell().waits_begin(2));
  }
  std::this_thread::sleep_for(100ms);
  for (Worker* each : {&coordinator, &worker})
    EXPECT_THAT(each->doorbell().waits(), ElementsAre(Doorbell::kForever, kHealthCheck));
}

TEST(Communicator, WakesOnceForEachGradientThatLeavesAtOnce) {
  const TrainingRequest request = make_request({.workers = 1}, "ring", "", "none");
  const auto endpoints = make_thread_endpoints(1);
  Worker worker(request, *endpoints[0]);
  ASSERT_TRUE(worker.doorbell().waits_begin(1));
  worker.handover().begin_step({Handover::Clock::now()});
  for (int tensor = 0; tensor + 1 < test_layout().tensors(); ++tensor) {
    const auto waits = static_cast<std::size_t>(tensor) + 2;
    ASSERT_TRUE(worker.doorbell().waits_begin(waits));
    EXPECT_EQ(worker.doorbell().waits().size(), waits);
    worker.handover().announce(kBackward, tensor);
  }
  worker.handover().announce(kBackward, test_layout().tensors() - 1);
  EXPECT_EQ(worker.handover().wait_for_step_end().next, Phase::timed);
}

TEST(Communicator, WakesForTimersOnlyWhileThePolicyHoldsGradients) {
  const TrainingRequest request = make_request({.workers = 1}, "ring", "", "horovod:16KiB:100ms");
  const auto endpoints = make_thread_endpoints(1);
  Worker worker(request, *endpoints[0]);
  ASSERT_TRUE(worker.doorbell().waits_begin(1));
  worker.handover().begin_step({Handover::Clock::now()});
  ASSERT_TRUE(worker.doorbell().waits_begin(2));
  EXPECT_EQ(worker.doorbell().waits().back(), kHealthCheck);
  worker.handover().announce(kBackward, 0);
  ASSERT_TRUE(worker.doorbell().waits_begin(3));
  EXPECT_LE(worker.doorbell().waits()[2], 100ms);
  ASSERT_TRUE(worker.doorbell().waits_begin(4));
  EXPECT_EQ(worker.doorbell().waits()[3], kHealthCheck);
}

TEST(Communicator, AsksLessAndLessOftenWhereNobodyRings) {
  const TrainingRequest request = make_request({.workers = 2}, "ring", "", "none");
  auto endpoints = make_thread_endpoints(2);
  PolledEndpoint first(std::move(endpoints[0])), second(std::move(endpoints[1]));
  Worker coordinator(request, first);
  Worker worker(request, second);
  for (Worker* each : {&coordinator, &worker}) {
    ASSERT_TRUE(each->doorbell().waits_begin(1));
    each->handover().begin_step({Handover::Clock::now()});
    ASSERT_TRUE(each->doorbell().waits_begin(2));
  }
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(worker.doorbell().waits().size(), 2U) << "no message can arrive that matters";
  for (Worker* each : {&coordinator, &worker}) {
    each->handover().announce(kBackward, each == &worker ? 1 : 0);  // the other's is missing
    ASSERT_TRUE(each->doorbell().waits_begin(8));
    const auto waits = each->doorbell().waits();
    EXPECT_EQ(waits[1], kHealthCheck);
    for (std::size_t i = 3; i < 8; ++i) {
      EXPECT_GE(waits[i], waits[i - 1]);
      EXPECT_LE(waits[i], 2 * waits[i - 1]);
    }
    EXPECT_GE(waits[7], 1ms);
    EXPECT_LE(waits[7], 5ms);
  }
}

TEST(Communicator, LeavesWhenClosedWhereverItWaits) {
  const TrainingRequest request = make_request({.workers = 2}, "ring", "", "none");
  for (const bool begun : {false, true}) {
    for (const bool announced : {false, true}) {
      const auto endpoints = make_thread_endpoints(2);
      Worker worker(request, *endpoints[1]);
      ASSERT_TRUE(worker.doorbell().waits_begin(1));
      if (begun) worker.handover().begin_step({Handover::Clock::now()});
      if (announced) worker.handover().announce(kBackward, 2);
      ASSERT_TRUE(worker.doorbell().waits_begin(begun ? 2 : 1));
    }  // its destructor closes the handover and joins the thread
  }
}

/// Runs a job in which every doorbell remembers its waits; how many were ended by the health check, which nothing
/// should ever wait for.
int waits_in_vain(const TrainingRequest& request, const std::vector<std::unique_ptr<Endpoint>>& endpoints) {
  std::atomic<int> in_vain = 0;
  std::vector<int> wrong(endpoints.size());
  const auto failures = on_all_ranks(endpoints, [&](Endpoint& endpoint) {
    std::unique_ptr<CountingDoorbell> counting;
    const auto listen_to = [&](Doorbell& own) -> Doorbell& {
      return *(counting = std::make_unique<CountingDoorbell>(own));
    };
    // Ranks that compute for different times find each other asleep.
    const Announce slowly = [](Handover& handover, Rank rank, int step) {
      for (int i = 0; i < test_layout().tensors(); ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds((i * 7 + rank * 5 + step * 3) % 4 * 1000));
        handover.announce(kBackward, (i + rank + step) % test_layout().tensors());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(rank % 2 == 0 ? 5 : 0));
    };
    work(request, endpoint, slowly, wrong[static_cast<std::size_t>(endpoint.transport().rank())], host_device(),
         listen_to);
    if (counting != nullptr) in_vain += static_cast<int>(counting->expired().size());
  });
  EXPECT_THAT(failures, Each(IsEmpty()));
  EXPECT_THAT(wrong, Each(0));
  return in_vain;
}

TEST(Communicator, IsRungWheneverItMayGoOn) {
  for (const char* algorithm : {"ring", "direct", "halving-doubling"}) {
    for (const int workers : {2, 3}) {
      for (const char* fusion : {"none", "threshold:1GiB"}) {
        SCOPED_TRACE(fmt::format("{} {} {}", algorithm, workers, fusion));
        const TrainingRequest request = make_request({.workers = workers}, algorithm, "", fusion);
        EXPECT_EQ(waits_in_vain(request, make_thread_endpoints(workers)), 0) << "threads";
        EXPECT_EQ(waits_in_vain(request, support::make_shared_thread_endpoints(workers, 1 << 20)), 0)
            << "shared memory";
      }
    }
  }
}

// Rank 2 gets no order for longer than it waits for rank 0, and rank 0 waits for rank 1 for longer than its time-out.
TEST(Communicator, TakesALongStepInWhichAWorkerStillAnnouncesForNoTimeOut) {
  TrainingRequest request = make_request({.workers = 3}, "ring", "", "threshold:1GiB");
  request.timeout = Seconds(0.8);
  const Announce rank1_is_slow = [](Handover& handover, Rank rank, int step) {
    if (rank != 1 || step != 1) return announce_all(handover, rank, step);
    for (int tensor = 0; tensor < test_layout().tensors(); ++tensor) {
      std::this_thread::sleep_for(450ms);
      handover.announce(kBackward, tensor);
    }
  };
  std::vector<int> wrong(3);
  const auto failures = on_all_ranks(3, [&](Endpoint& endpoint) {
    work(request, endpoint, rank1_is_slow, wrong[static_cast<std::size_t>(endpoint.transport().rank())]);
  });
  EXPECT_THAT(failures, Each(IsEmpty()));
  EXPECT_THAT(wrong, Each(0));
}

}  // namespace
}  // namespace hbench::communicator_test
