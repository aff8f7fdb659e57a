#include "analysis/statistics/statistics.hpp"

#include <gtest/gtest.h>

namespace hbench::binomial_test {
namespace {

// Of 2^15 equally likely outcomes one is all successes, and 15 have one failure.
TEST(BinomialTail, CountsOutcomesOfFairTrials) {
  EXPECT_NEAR(binomial_tail(15, 15, 0.5), 1.0 / 32768, 1e-15);
  EXPECT_NEAR(binomial_tail(14, 15, 0.5), 16.0 / 32768, 1e-14);
  EXPECT_NEAR(binomial_tail(0, 15, 0.5), 1, 1e-12);
}

// Two of three with a quarter each: 3 * 1/16 * 3/4 and 1/64.
TEST(BinomialTail, KnowsUnfairTrials) { EXPECT_NEAR(binomial_tail(2, 3, 0.25), 10.0 / 64, 1e-14); }

}  // namespace
}  // namespace hbench::binomial_test
