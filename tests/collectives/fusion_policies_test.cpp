/// What each fusion policy does: exact buckets at exact times.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/fusion/fusion.hpp"
#include "tests/collectives/drive.hpp"

namespace hbench {
namespace {

using ::hbench::testing::drive;
using ::hbench::testing::Launch;
using ::hbench::testing::Ready;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kMs = 1e-3;

std::unique_ptr<FusionPolicy> make(std::string_view text, std::vector<std::int64_t> bytes) {
  return parse_fusion(text).make(bytes);
}

std::vector<Bucket> ready(FusionPolicy& policy, double at, int tensor) {
  return policy.on({FusionEventKind::gradient_ready, Seconds(at), tensor});
}

TEST(None, SendsEveryGradientAtOnce) {
  const auto policy = make("none", {10, 20, 30});
  EXPECT_THAT(drive(*policy, {{1, 0}, {2, 2}, {2, 1}}, 3), ElementsAre(Launch{1, {0}}, Launch{2, {2}}, Launch{2, {1}}));
}

TEST(Threshold, LaunchesWhenTheBytesAreReachedAndTheRestAfterBackward) {
  const auto policy = make("threshold:30B", {10, 20, 29, 100, 5, 5});
  EXPECT_THAT(drive(*policy, {{1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 5}, {6, 4}}, 7),
              ElementsAre(Launch{2, {0, 1}}, Launch{4, {2, 3}}, Launch{7, {5, 4}}));
}

TEST(Threshold, HasNoRestWhenTheLastGradientFillsTheBucket) {
  const auto policy = make("threshold:30B", {10, 20});
  EXPECT_THAT(drive(*policy, {{1, 0}, {2, 1}}, 3), ElementsAre(Launch{2, {0, 1}}));
}

TEST(Threshold, MakesTheSameBucketsWithoutOverlap) {
  const auto policy = make("threshold:30B", {10, 20, 5});
  EXPECT_THAT(drive(*policy, {{3, 0}, {3, 1}, {3, 2}}, 3), ElementsAre(Launch{3, {0, 1}}, Launch{3, {2}}));
}

TEST(Horovod, SendsAtEachTickWhatIsReadyInReadyOrderUpToTheThreshold) {
  const auto policy = make("horovod:100B:5ms", {40, 40, 60, 200, 10});
  // 40 + 60 fills the bucket exactly, the next 40 would push it over; 200 is larger than the threshold and goes alone
  EXPECT_THAT(drive(*policy, {{1 * kMs, 0}, {2 * kMs, 2}, {3 * kMs, 1}, {4 * kMs, 3}, {12 * kMs, 4}}, 13 * kMs),
              ElementsAre(Launch{5 * kMs, {0, 2}}, Launch{5 * kMs, {1}}, Launch{5 * kMs, {3}}, Launch{15 * kMs, {4}}));
}

TEST(Horovod, StartsANewBucketAfterATensorLargerThanTheThreshold) {
  const auto policy = make("horovod:100B:5ms", {200, 10, 10});
  EXPECT_THAT(drive(*policy, {{1 * kMs, 0}, {1 * kMs, 1}, {1 * kMs, 2}}, 2 * kMs),
              ElementsAre(Launch{5 * kMs, {0}}, Launch{5 * kMs, {1, 2}}));
}

TEST(Horovod, WakesEachCycleWhileTensorsAreOutstanding) {
  const auto policy = make("horovod:100B:5ms", {40});
  EXPECT_EQ(policy->wakeup(), std::nullopt);
  policy->on({FusionEventKind::step_begin, Seconds(0), 0});
  EXPECT_EQ(policy->wakeup(), Seconds(5 * kMs));
  EXPECT_THAT(policy->on({FusionEventKind::timer, Seconds(5 * kMs), 0}), IsEmpty());
  EXPECT_EQ(policy->wakeup(), Seconds(10 * kMs));
  EXPECT_THAT(ready(*policy, 6 * kMs, 0), IsEmpty());
  EXPECT_THAT(policy->on({FusionEventKind::backward_done, Seconds(7 * kMs), 0}), IsEmpty());
  EXPECT_THAT(policy->on({FusionEventKind::timer, Seconds(10 * kMs), 0}), ElementsAre(Bucket{0}));
  EXPECT_EQ(policy->wakeup(), std::nullopt);
}

TEST(Horovod, KeepsItsGridWhenATimerComesLate) {
  const auto policy = make("horovod:100B:5ms", {40});
  policy->on({FusionEventKind::step_begin, Seconds(0), 0});
  policy->on({FusionEventKind::timer, Seconds(12 * kMs), 0});
  EXPECT_EQ(policy->wakeup(), Seconds(15 * kMs));
}

TEST(Horovod, IgnoresATimerThatComesEarly) {
  const auto policy = make("horovod:100B:5ms", {40});
  policy->on({FusionEventKind::step_begin, Seconds(0), 0});
  ready(*policy, 1 * kMs, 0);
  EXPECT_THAT(policy->on({FusionEventKind::timer, Seconds(4 * kMs), 0}), IsEmpty());
  EXPECT_EQ(policy->wakeup(), Seconds(5 * kMs));
}

TEST(Horovod, SkipsNoTickByRounding) {
  for (const auto& [text, cycle] : {std::pair{"horovod:1B:1ms", 1e-3}, {"horovod:1B:3ms", 3e-3}}) {
    const auto policy = make(text, {40});
    policy->on({FusionEventKind::step_begin, Seconds(0), 0});
    for (int tick = 1; tick < 100000; ++tick) {
      ASSERT_DOUBLE_EQ(policy->wakeup()->value, tick * cycle);
      policy->on({FusionEventKind::timer, *policy->wakeup(), 0});
    }
  }
}

TEST(Horovod, StartsItsCycleAnewInEveryStep) {
  const auto policy = make("horovod:100B:5ms", {40});
  for (int step = 0; step < 2; ++step)
    EXPECT_THAT(drive(*policy, {{11 * kMs, 0}}, 12 * kMs), ElementsAre(Launch{15 * kMs, {0}}));
}

TEST(Horovod2018, DiffersInItsDefaultsOnly) {
  const std::vector<std::int64_t> bytes{40 << 20, 40 << 20};
  const std::vector<Ready> events{{0.2 * kMs, 0}, {0.3 * kMs, 1}};
  EXPECT_THAT(drive(*make("horovod", bytes), events, 0.4 * kMs), ElementsAre(Launch{1 * kMs, {0, 1}}));
  EXPECT_THAT(drive(*make("horovod-2018", bytes), events, 0.4 * kMs),
              ElementsAre(Launch{5 * kMs, {0}}, Launch{5 * kMs, {1}}));
  EXPECT_THAT(drive(*make("horovod-2018:128MiB:1ms", bytes), events, 0.4 * kMs), ElementsAre(Launch{1 * kMs, {0, 1}}));
}

TEST(Ddp, LaunchesInIndexOrderAndRebuildsInReadyOrder) {
  const auto policy = make("ddp:100B:30B", {20, 20, 60, 60, 10});
  // Backward order gives {0, 1} (the first closes at 30 B), {2, 3} (closes at 100 B), {4}.
  EXPECT_THAT(drive(*policy, {{1, 4}, {2, 3}, {3, 2}, {4, 1}, {5, 0}}, 6),
              ElementsAre(Launch{5, {0, 1}}, Launch{5, {2, 3}}, Launch{5, {4}}));
  // Ready order 4 3 2 1 0 gives {4, 3}, {2, 1, 0}.
  EXPECT_THAT(drive(*policy, {{1, 4}, {2, 3}, {3, 2}, {4, 1}, {5, 0}}, 6),
              ElementsAre(Launch{2, {4, 3}}, Launch{5, {2, 1, 0}}));
  // Rebuilt once only: another order in a later step does not change the buckets.
  EXPECT_THAT(drive(*policy, {{1, 0}, {2, 1}, {3, 2}, {4, 3}, {5, 4}}, 6),
              ElementsAre(Launch{5, {4, 3}}, Launch{5, {2, 1, 0}}));
}

TEST(Ddp, LetsATensorLargerThanTheBucketCloseIt) {
  const auto policy = make("ddp:100B:30B", {500, 10, 500, 10});
  EXPECT_THAT(drive(*policy, {{1, 0}, {2, 1}, {3, 2}, {4, 3}}, 5),
              ElementsAre(Launch{1, {0}}, Launch{3, {1, 2}}, Launch{4, {3}}));
}

}  // namespace
}  // namespace hbench
