// What interruptions cost a job: the closed form beside published figures, its first terms, and a simulation of single
// failures.

#include "analysis/choose/failures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hbench::failures_test {
namespace {

constexpr double kMinute = 1.0 / 60;

Interruptions every(double hours, double checkpoint_minutes, double restart_minutes) {
  return {.failures = 1 / hours, .checkpoint = checkpoint_minutes * kMinute, .restart = restart_minutes * kMinute};
}

// 16,384 GPUs with a failure each 3.1 h kept more than 90 % of their time (Llama 3): a minute for a checkpoint and ten
// to restart would have been too much, half a minute and five were enough. Intervals are Young's, shares Daly's.
TEST(Failures, LeaveAJobOfLlama3AsMuchAsItHad) {
  struct {
    double checkpoint, restart, interval, share;
  } const rows[] = {{1, 10, 19.3, 0.853}, {1, 5, 19.3, 0.876}, {0.5, 5, 13.6, 0.904}, {0.2, 5, 8.6, 0.929}};
  for (const auto& row : rows) {
    const Pace found = pace_of(every(3.1, row.checkpoint, row.restart));
    EXPECT_NEAR(found.interval / kMinute, row.interval, row.checkpoint);
    EXPECT_NEAR(found.share.stated, row.share, 0.001) << row.checkpoint << " " << row.restart;
    EXPECT_DOUBLE_EQ(found.between(), 3.1);
  }
}

TEST(Failures, ThatAreRareHaveTheIntervalsOfYoungAndDaly) {
  for (const double checkpoint : {0.01, 0.1, 0.5}) {
    const double young = std::sqrt(2 * checkpoint * 1000);
    const double ratio = checkpoint / 2000;
    const double daly = young * (1 + std::sqrt(ratio) / 3 + ratio / 9) - checkpoint;
    const double exact = best_interval({.failures = 0.001, .checkpoint = checkpoint});
    EXPECT_NEAR(exact, young, checkpoint) << "of the first order";
    EXPECT_NEAR(exact, daly, 2e-3 * checkpoint) << "of a higher one";
  }
}

TEST(Failures, LeaveMostWithTheBestInterval) {
  for (const double checkpoint : {0.1, 1.0, 30.0})
    for (const double hours : {0.3, 3.0, 300.0}) {
      const Interruptions by = every(hours, checkpoint, 11);
      const double best = best_interval(by);
      EXPECT_GT(training_share(by, best), training_share(by, 0.9 * best)) << checkpoint << " " << hours;
      EXPECT_GT(training_share(by, best), training_share(by, 1.1 * best)) << checkpoint << " " << hours;
    }
}

/// Hours of a job of `segments` intervals, failure by failure.
double simulated_hours(const Interruptions& by, double interval, int segments, std::mt19937_64& random) {
  const auto until_failure = [&] { return -std::log1p(-std::generate_canonical<double, 53>(random)) / by.failures; };
  double hours = 0, left = until_failure();
  for (int done = 0; done < segments;) {
    double needed = interval + by.checkpoint;
    while (left < needed) {
      hours += left;
      left = until_failure();
      needed = by.restart + interval + by.checkpoint;
    }
    hours += needed;
    left -= needed;
    ++done;
  }
  return hours;
}

TEST(Failures, CostWhatASimulationOfEachOfThemCosts) {
  constexpr int kJobs = 400, kSegments = 100;
  for (const double hours : {0.5, 3.0, 50.0}) {
    const Interruptions by = every(hours, 2, 11);
    const double interval = best_interval(by);
    std::mt19937_64 random(7);
    double sum = 0, squares = 0;
    for (int job = 0; job < kJobs; ++job) {
      const double taken = simulated_hours(by, interval, kSegments, random) / (kSegments * interval);
      sum += taken;
      squares += taken * taken;
    }
    const double mean = sum / kJobs, error = std::sqrt((squares / kJobs - mean * mean) / kJobs);
    EXPECT_NEAR(mean, 1 / training_share(by, interval), 3 * error) << hours;
    EXPECT_LT(error, 0.01 * mean) << "the simulation is sharp enough to tell";
  }
}

TEST(Failures, OfWhichASellerTellsLoseTheRestartAndOneCheckpoint) {
  Interruptions by = every(1e9, 1, 10);
  by.evictions = 2;
  EXPECT_NEAR(training_share(by, 1e4), 1 / (1 + 2 * 11 * kMinute), 1e-5);
}

TEST(Failures, OfAReplicaLoseWhatItHasDoneSinceReplicasMet) {
  const Pace found = pace_of({.failures = 1e-3, .restart = 0.5, .interval = 0.2});
  EXPECT_DOUBLE_EQ(found.interval, 0.2);
  EXPECT_NEAR(found.share.stated, 1 - 1e-3 * (0.5 + 0.1), 1e-6);
}

TEST(Failures, ThatNobodyCountedHaveABandOfTheirFactor) {
  Interruptions by = every(10, 1, 10);
  EXPECT_DOUBLE_EQ(pace_of(by).share.low, pace_of(by).share.stated);
  by.factor = 2;
  const Band share = pace_of(by).share;
  const double interval = best_interval(by);
  EXPECT_DOUBLE_EQ(share.low, training_share(every(5, 1, 10), interval));
  EXPECT_DOUBLE_EQ(share.high, training_share(every(20, 1, 10), interval));
}

TEST(Failures, BeforeAJobStartsLeaveHardlyAnythingAndNoInfinity) {
  const Pace found = pace_of(every(0.001, 60, 600));
  EXPECT_GT(found.share.stated, 0);
  EXPECT_LT(found.share.stated, 1e-5);
  EXPECT_GT(found.interval, 0);
}

}  // namespace
}  // namespace hbench::failures_test
