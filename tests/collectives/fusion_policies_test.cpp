/// What each fusion policy does: exact buckets at exact times.

#include "collectives/fusion/fusion.hpp"
#include "tests/collectives/drive.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::fusion_policies_test {
namespace {

using namespace ::hbench::support;

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

// Horovod's FuseResponses looks ahead past tensors of another type only: what it skips counts against the threshold
// too, so a like tensor that does not fit ends the bucket (60 + 50 > 100), and the 10 after it do not join the 60.
TEST(Horovod, EndsABucketAtTheFirstLikeTensorThatDoesNotFit) {
  const auto policy = make("horovod:100B:5ms", {60, 50, 10});
  EXPECT_THAT(drive(*policy, {{1 * kMs, 0}, {2 * kMs, 1}, {3 * kMs, 2}}, 4 * kMs),
              ElementsAre(Launch{5 * kMs, {0}}, Launch{5 * kMs, {1, 2}}));
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

TEST(Ddp, LaunchesInOrderAndRebuildsInReadyOrder) {
  const auto policy = make("ddp:100B:30B", {20, 20, 60, 60, 10});
  // Forward order 4 3 2 1 0 gives {4, 3} (the first closes at 30 B), {2, 1, 0} (closes at 100 B); the last goes first.
  EXPECT_THAT(drive(*policy, {{1, 0}, {2, 1}, {3, 3}, {4, 4}, {5, 2}}, 6),
              ElementsAre(Launch{5, {2, 1, 0}}, Launch{5, {4, 3}}));
  // Ready order 0 1 3 4 2 gives {0, 1}, {3, 4, 2}.
  EXPECT_THAT(drive(*policy, {{1, 0}, {2, 1}, {3, 3}, {4, 4}, {5, 2}}, 6),
              ElementsAre(Launch{2, {0, 1}}, Launch{5, {3, 4, 2}}));
  // Rebuilt once only: another order in a later step does not change the buckets.
  EXPECT_THAT(drive(*policy, {{1, 4}, {2, 3}, {3, 2}, {4, 1}, {5, 0}}, 6),
              ElementsAre(Launch{5, {0, 1}}, Launch{5, {3, 4, 2}}));
}

// 30 B fill the first bucket, 60 + 40 B the next one. Before it has seen a step, from the other end: 10 + 40 B, then
// 60 + 30 B.
TEST(Ddp, ClosesABucketThatATensorFillsExactly) {
  const auto policy = make("ddp:100B:30B", {30, 60, 40, 10});
  const std::vector<Ready> events{{1, 0}, {2, 1}, {3, 2}, {4, 3}};
  EXPECT_THAT(drive(*policy, events, 5), ElementsAre(Launch{2, {1, 0}}, Launch{4, {3, 2}}));
  EXPECT_THAT(drive(*policy, events, 5), ElementsAre(Launch{1, {0}}, Launch{3, {1, 2}}, Launch{4, {3}}));
}

TEST(Ddp, LetsATensorLargerThanTheBucketCloseIt) {
  const auto policy = make("ddp:100B:30B", {500, 10, 500, 10});
  const std::vector<Ready> events{{1, 0}, {2, 1}, {3, 2}, {4, 3}};
  // Forward order 3 2 1 0 gives {3, 2} (510 B), {1, 0}.
  EXPECT_THAT(drive(*policy, events, 5), ElementsAre(Launch{2, {1, 0}}, Launch{4, {3, 2}}));
  EXPECT_THAT(drive(*policy, events, 5), ElementsAre(Launch{1, {0}}, Launch{3, {1, 2}}, Launch{4, {3}}));
}

std::vector<Bucket> done(FusionPolicy& policy, double at, int completed) {
  return policy.on({FusionEventKind::bucket_done, Seconds(at), completed});
}

// Partition 40 B, credit 100 B. The back of the model (tensor 0) is ready first and is cut into 40 + 40 + 20 B, which
// is all the credit. Then the front (tensor 2) comes: its pieces go before those of tensor 1, which was ready before
// it.
TEST(Byteps, SendsPiecesOfTheFrontOfTheModelFirstWithinItsCredit) {
  const auto policy = make("byteps:40B:100B", {100, 48, 60});
  policy->on({FusionEventKind::step_begin, Seconds(0), 0});
  EXPECT_THAT(ready(*policy, 1, 0),
              ElementsAre(Bucket::piece(0, 0, 40), Bucket::piece(0, 40, 80), Bucket::piece(0, 80, 100)));
  EXPECT_THAT(ready(*policy, 2, 1), IsEmpty());
  EXPECT_THAT(ready(*policy, 3, 2), IsEmpty());
  EXPECT_THAT(done(*policy, 4, 1), ElementsAre(Bucket::piece(2, 0, 40)));
  // 40 B come back: the next 20 B of tensor 2, and then 20 B of credit are left, in which the 8 B of tensor 1 fit.
  EXPECT_THAT(done(*policy, 5, 2), ElementsAre(Bucket::piece(2, 40, 60), Bucket::piece(1, 40, 48)));
  EXPECT_THAT(policy->on({FusionEventKind::backward_done, Seconds(5), 0}), IsEmpty());
  EXPECT_THAT(done(*policy, 6, 3), IsEmpty()) << "32 B of credit do not suffice for 40 B";
  EXPECT_THAT(done(*policy, 7, 4), ElementsAre(Bucket::piece(1, 0, 40)));
}

TEST(Byteps, LetsAPieceThatIsLargerThanTheCreditLeaveAlone) {
  const auto policy = make("byteps:40B:8B", {80, 4});
  policy->on({FusionEventKind::step_begin, Seconds(0), 0});
  EXPECT_THAT(ready(*policy, 1, 0), ElementsAre(Bucket::piece(0, 0, 40)));
  EXPECT_THAT(ready(*policy, 1, 1), IsEmpty());
  EXPECT_THAT(done(*policy, 2, 1), ElementsAre(Bucket::piece(1, 0, 4)));
  EXPECT_THAT(done(*policy, 3, 2), ElementsAre(Bucket::piece(0, 40, 80)));
}

TEST(Byteps, CutsWholeFloats) {
  const auto policy = make("byteps:10B:1GiB", {20});
  policy->on({FusionEventKind::step_begin, Seconds(0), 0});
  EXPECT_THAT(ready(*policy, 1, 0),
              ElementsAre(Bucket::piece(0, 0, 8), Bucket::piece(0, 8, 16), Bucket::piece(0, 16, 20)));
}

// An all-reduce takes 2 s and 1 s per 10 B. One by one: 1 to 4, 4 to 7, 7 to 10, 10 to 13 s. The first alone ends at 4
// s; the others, ready at 4 s, together take 2 + 3 s: 9 s. All together leave at 4 s and take 2 + 4 s: 10 s.
TEST(MgWfbp, MergesWhatEndsSooner) {
  const auto policy = make("mg-wfbp:2s:10B/s", {10, 10, 10, 10});
  const std::vector<Ready> events{{1, 3}, {3.9, 2}, {3.95, 1}, {4, 0}};
  EXPECT_THAT(drive(*policy, events, 5), ElementsAre(Launch{4, {0, 1, 2, 3}})) << "the first step is only watched";
  EXPECT_THAT(drive(*policy, events, 5), ElementsAre(Launch{1, {3}}, Launch{4, {2, 1, 0}}));
  // Learned once: other times in a later step do not change the buckets.
  EXPECT_THAT(drive(*policy, {{1, 0}, {2, 1}, {3, 2}, {4, 3}}, 5), ElementsAre(Launch{4, {3}}, Launch{4, {2, 1, 0}}));
}

TEST(MgWfbp, SendsEachAloneWhenStartingIsFreeAndAllTogetherWhenItIsDear) {
  const std::vector<Ready> events{{1, 0}, {2, 1}, {3, 2}};
  const auto free = make("mg-wfbp:1ns:1GB/s", {4, 4, 4});
  drive(*free, events, 4);
  EXPECT_THAT(drive(*free, events, 4), ElementsAre(Launch{1, {0}}, Launch{2, {1}}, Launch{3, {2}}));
  const auto dear = make("mg-wfbp:100s:1GB/s", {4, 4, 4});
  drive(*dear, events, 4);
  EXPECT_THAT(drive(*dear, events, 4), ElementsAre(Launch{3, {0, 1, 2}}));
}

}  // namespace
}  // namespace hbench::fusion_policies_test
