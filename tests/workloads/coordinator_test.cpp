#include "workloads/engine/coordinator.hpp"

#include <array>

#include "tests/support/matchers.hpp"
#include "workloads/methods/method.hpp"

namespace hbench::coordinator_test {
namespace {

constexpr std::array<std::int64_t, 3> kBytes{4, 8, 12};

Coordinator make_coordinator(const FusionChoice& fusion, int workers) {
  const StepPlan plan = parse_method("synchronous").plan(true);
  return {StepProgress(plan, fusion, {kBytes.begin(), kBytes.end()}), workers};
}
Coordinator make_coordinator(std::string_view fusion, int workers) {
  return make_coordinator(parse_fusion(fusion), workers);
}

/// Tasks of a synchronous plan.
constexpr int kBackward = 1, kReduce = 2;

std::vector<Bucket> buckets_of(const std::vector<LeavingBucket>& leaving) {
  std::vector<Bucket> buckets;
  for (const LeavingBucket& each : leaving) {
    EXPECT_EQ(each.task, kReduce);
    buckets.push_back(each.bucket);
  }
  return buckets;
}

std::vector<Bucket> announce(Coordinator& coordinator, int worker, std::vector<std::int32_t> tensors, double at) {
  return buckets_of(coordinator.announced(worker, kBackward, tensors, Seconds(at)));
}

TEST(Coordinator, ReleasesATensorWhenTheLastWorkerHasIt) {
  Coordinator coordinator = make_coordinator("none", 2);
  EXPECT_THAT(coordinator.begin_step(), IsEmpty());
  EXPECT_THAT(announce(coordinator, 0, {0, 1, 2}, 0.1), IsEmpty());
  EXPECT_THAT(announce(coordinator, 1, {1}, 0.2), ElementsAre(Bucket{1}));
  EXPECT_EQ(coordinator.missing(0), 0);
  EXPECT_EQ(coordinator.missing(1), 2);
  EXPECT_FALSE(coordinator.all_launched());
  EXPECT_THAT(announce(coordinator, 1, {2, 0}, 0.3), ElementsAre(Bucket{2}, Bucket{0}));
  EXPECT_TRUE(coordinator.all_launched());
}

TEST(Coordinator, DeliversTimersOnceTheyAreDue) {
  Coordinator coordinator = make_coordinator("horovod:1KiB:10ms", 1);
  coordinator.begin_step();
  EXPECT_THAT(announce(coordinator, 0, {0, 2}, 0.001), IsEmpty());
  EXPECT_THAT(buckets_of(coordinator.tick(Seconds(0.009))), IsEmpty());
  EXPECT_THAT(buckets_of(coordinator.tick(Seconds(0.0101))), ElementsAre(Bucket{0, 2}));
  EXPECT_THAT(announce(coordinator, 0, {1}, 0.011), IsEmpty());
  EXPECT_FALSE(coordinator.stuck(0)) << "a timer is to come";
  EXPECT_THAT(buckets_of(coordinator.tick(Seconds(0.5))), ElementsAre(Bucket{1}));
}

TEST(Coordinator, NeedsNoTimersWhileItsPolicyHoldsNothing) {
  Coordinator coordinator = make_coordinator("horovod:1KiB:10ms", 2);
  coordinator.begin_step();
  EXPECT_EQ(coordinator.wakeup(), std::nullopt);
  announce(coordinator, 0, {0}, 0.011);
  EXPECT_EQ(coordinator.wakeup(), std::nullopt) << "worker 1 has yet to announce it";
  EXPECT_TRUE(coordinator.waits_for_others(0));
  EXPECT_FALSE(coordinator.waits_for_others(1));
  // Ticks that nobody was woken for have passed all the same: the next one is at 30 ms.
  EXPECT_THAT(announce(coordinator, 1, {0}, 0.025), IsEmpty());
  EXPECT_FALSE(coordinator.waits_for_others(0));
  EXPECT_EQ(coordinator.wakeup(), Seconds(0.03));
  EXPECT_THAT(buckets_of(coordinator.tick(Seconds(0.026))), IsEmpty());
  EXPECT_THAT(buckets_of(coordinator.tick(Seconds(0.0301))), ElementsAre(Bucket{0}));
  EXPECT_EQ(coordinator.wakeup(), std::nullopt);
}

TEST(Coordinator, BeginsEveryStepAfresh) {
  Coordinator coordinator = make_coordinator("none", 1);
  for (int step = 0; step < 3; ++step) {
    coordinator.begin_step();
    EXPECT_FALSE(coordinator.all_launched());
    EXPECT_THAT(announce(coordinator, 0, {2, 1, 0}, 0), ElementsAre(Bucket{2}, Bucket{1}, Bucket{0}));
    EXPECT_TRUE(coordinator.all_launched());
  }
}

TEST(Coordinator, TellsTensorsInLayoutOrderWhateverTheirReadyOrder) {
  Coordinator coordinator = make_coordinator("threshold:1GiB", 1);
  coordinator.begin_step();
  EXPECT_THAT(announce(coordinator, 0, {2, 0, 1}, 0), ElementsAre(Bucket{0, 1, 2}));
}

TEST(Coordinator, CountsATensorAsLaunchedWithItsLastPiece) {
  Coordinator coordinator = make_coordinator("byteps:8B:4B", 1);
  coordinator.begin_step();
  EXPECT_THAT(announce(coordinator, 0, {0, 1, 2}, 0), ElementsAre(Bucket::piece(0, 0, 4)));
  EXPECT_THAT(buckets_of(coordinator.bucket_done(kReduce, Seconds(1))), ElementsAre(Bucket::piece(2, 0, 8)));
  EXPECT_THAT(buckets_of(coordinator.bucket_done(kReduce, Seconds(2))), ElementsAre(Bucket::piece(2, 8, 12)));
  EXPECT_THAT(buckets_of(coordinator.bucket_done(kReduce, Seconds(3))), ElementsAre(Bucket::piece(1, 0, 8)));
  EXPECT_TRUE(coordinator.all_launched());
}

TEST(Coordinator, RefusesASecondAnnouncementOfOneTensor) {
  Coordinator coordinator = make_coordinator("none", 2);
  coordinator.begin_step();
  announce(coordinator, 1, {1}, 0);
  EXPECT_THROW(announce(coordinator, 1, {1}, 0), std::logic_error);
}

/// Keeps everything: what a mistaken policy does.
class Miser final : public FusionPolicy {
 public:
  std::vector<Bucket> on(const FusionEvent&) override { return {}; }
};

constexpr Fusion kMiser{.name = "miser",
                        .make = [](std::string_view, std::span<const std::int64_t>) -> std::unique_ptr<FusionPolicy> {
                          return std::make_unique<Miser>();
                        }};

TEST(Coordinator, NoticesAPolicyThatKeepsGradientsBack) {
  Coordinator coordinator = make_coordinator({&kMiser, ""}, 1);
  coordinator.begin_step();
  EXPECT_FALSE(coordinator.stuck(0));
  announce(coordinator, 0, {0, 1, 2}, 0);
  EXPECT_FALSE(coordinator.stuck(1)) << "a bucket that completes could make it go on";
  EXPECT_TRUE(coordinator.stuck(0));
}

}  // namespace
}  // namespace hbench::coordinator_test
