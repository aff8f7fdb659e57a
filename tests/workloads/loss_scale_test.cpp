#include "workloads/engine/loss_scale.hpp"

#include <gtest/gtest.h>

namespace hbench::loss_scale_test {
namespace {

TEST(LossScale, IsOneForGoodWhereNothingIsScaled) {
  LossScale scale(false);
  for (int step = 0; step < 5000; ++step) EXPECT_TRUE(scale.update(step % 7 != 0));
  EXPECT_EQ(scale.value(), 1);
}

TEST(LossScale, IsHalvedByAnOverflowWhoseStepDoesNotCount) {
  LossScale scale(true);
  EXPECT_EQ(scale.value(), 65536);
  EXPECT_FALSE(scale.update(false));
  EXPECT_EQ(scale.value(), 32768);
  EXPECT_TRUE(scale.update(true));
  EXPECT_EQ(scale.value(), 32768);
}

TEST(LossScale, IsDoubledAfterTwoThousandGoodStepsInARow) {
  LossScale scale(true);
  for (int step = 0; step < 1999; ++step) scale.update(true);
  EXPECT_EQ(scale.value(), 65536);
  scale.update(false);
  for (int step = 0; step < 1999; ++step) scale.update(true);
  EXPECT_EQ(scale.value(), 32768) << "an overflow begins the count again";
  scale.update(true);
  EXPECT_EQ(scale.value(), 65536);
}

TEST(LossScale, StaysBetweenNoScalingAndTheLargest) {
  LossScale scale(true);
  for (int step = 0; step < 100; ++step) scale.update(false);
  EXPECT_EQ(scale.value(), 1);
  for (int step = 0; step < 100'000; ++step) scale.update(true);
  EXPECT_EQ(scale.value(), 16777216);
}

}  // namespace
}  // namespace hbench::loss_scale_test
