// Intervals of a few launches: tables, closed forms, and how often they hold what they promise.

#include <cmath>

#include "analysis/statistics/statistics.hpp"
#include "tests/support/matchers.hpp"
namespace hbench::interval_test {
namespace {

TEST(StudentT, IsThatOfTheTables) {
  // Abramowitz and Stegun, table 26.10, Q = 0.025; for 25 with one more place.
  EXPECT_NEAR(student_t(1), 12.706, 5e-4);
  EXPECT_NEAR(student_t(4), 2.776, 5e-4);
  EXPECT_NEAR(student_t(20), 2.086, 5e-4);
  EXPECT_NEAR(student_t(25), 2.0595, 5e-4);
  EXPECT_NEAR(student_t(60), 2.000, 5e-4);
}

// Ratios 1, 1, e: logarithms 0, 0, 1. Their pairwise means, each with itself, are 0, 0, 0, 1/2, 1/2, 1: median 1/4.
// Their variance is 1/3; Student's t of 2 degrees is 4.3027; 2 pi/3 * (1/3) / 3 is under the root.
TEST(PairedRatio, IsHodgesAndLehmannsOfTheLogarithmsWithStudentsInterval) {
  const RatioEstimate estimate = paired_ratio({{{2}, {2}}, {{3}, {3}}, {{std::exp(1)}, {1}}});
  EXPECT_NEAR(std::log(estimate.ratio), 0.25, 1e-12);
  ASSERT_TRUE(estimate.interval);
  const double half = 4.3027 * std::sqrt(2 * M_PI / 3 / 3 / 3);
  EXPECT_NEAR(std::log(estimate.interval->low), 0.25 - half, 1e-9);
  EXPECT_NEAR(std::log(estimate.interval->high), 0.25 + half, 1e-9);
  EXPECT_THAT(estimate.in_words, HasSubstr("3 paired launches"));
}

TEST(PairedRatio, DoesNotMindWhatSlowsBothOfAPair) {
  const RatioEstimate quiet = paired_ratio({{{1}, {2}}, {{1}, {2.1}}, {{1}, {1.9}}});
  const RatioEstimate noisy = paired_ratio({{{5}, {10}}, {{1}, {2.1}}, {{3}, {5.7}}});
  EXPECT_DOUBLE_EQ(quiet.ratio, noisy.ratio);
  EXPECT_NEAR(quiet.interval->low, noisy.interval->low, 1e-12);
}

TEST(PairedRatio, IsNeverMoreCertainThanTheIterationsOfItsLaunches) {
  // Launches that agree to the last digit, by luck: their iterations do not.
  const Launch scattered{0.8, 0.9, 1, 1.1, 1.2};
  const RatioEstimate estimate = paired_ratio({{scattered, scattered}, {scattered, scattered}, {scattered, scattered}});
  EXPECT_EQ(estimate.ratio, 1);
  EXPECT_LT(estimate.interval->low, 0.9);
  EXPECT_GT(estimate.interval->high, 1.1);
}

TEST(PairedRatio, OfOneLaunchHasNoIntervalHoweverManyIterationsItHas) {
  EXPECT_DOUBLE_EQ(paired_ratio({{{1, 1.1, 1.2}, {2, 2.2, 2.4}}}).ratio, 0.5);
  EXPECT_FALSE(paired_ratio({{{1, 1.1, 1.2}, {2, 2.1, 2.2}}}).interval);
  EXPECT_FALSE(unpaired_ratio({{1, 1.1, 1.2}}, {{2, 2.1, 2.2}}).interval);
}

TEST(UnpairedRatio, IsThatOfTheMediansAndWiderWithFewerLaunches) {
  const Launches few{{1}, {1.1}}, many{{1}, {1.1}, {1}, {1.1}, {1}, {1.1}};
  const Launches own{{2}, {2.1}, {2.2}};
  EXPECT_DOUBLE_EQ(unpaired_ratio(few, own).ratio, 1.05 / 2.1);
  EXPECT_LT(unpaired_ratio(few, own).interval->low, unpaired_ratio(many, own).interval->low);
  EXPECT_GT(unpaired_ratio({{1}}, own).interval->high, unpaired_ratio(many, own).interval->high)
      << "a single launch scatters as well";
}

TEST(RepeatInterval, OfOneLaunchHasNoWidth) {
  EXPECT_EQ(repeat_interval(std::vector<double>{0.5}), (Interval{0.5, 0.5}));
  const Interval interval = repeat_interval(std::vector<double>{0.5, 0.6, 0.4});
  EXPECT_LT(interval.low, 0.4);
  EXPECT_GT(interval.high, 0.6);
}

/// A machine as it is: launches differ from each other, the machine becomes slower all the while and wanders, and
/// iterations scatter. All on logarithms of times.
class Machine {
 public:
  explicit Machine(std::uint64_t seed) : random_(seed) {}

  /// A run of `launches`, the baseline and the case in turn (A B, B A ...); the true ratio is 1/2.
  std::vector<PairedLaunch> run(int launches) {
    std::vector<PairedLaunch> pairs;
    for (int i = 0; i < launches; ++i) {
      PairedLaunch pair;
      if (i % 2 == 0) pair.baseline = launch(0);
      pair.own = launch(std::log(2));
      if (i % 2 == 1) pair.baseline = launch(0);
      pairs.push_back(std::move(pair));
    }
    return pairs;
  }

 private:
  /// Nearly normal: the sum of 12 uniforms has variance 1.
  double normal(double sigma) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random_.below(1 << 20)) / (1 << 20);
    return sigma * sum;
  }

  Launch launch(double time) {
    drift_ += 0.02 + normal(0.03);
    const double luck = time + drift_ + normal(0.04);
    Launch iterations;
    for (int i = 0; i < 5; ++i) iterations.push_back(std::exp(luck + normal(0.05)));
    return iterations;
  }

  Random random_;
  double drift_ = 0;
};

bool holds(const Interval& interval, double value) { return interval.low <= value && value <= interval.high; }

class Coverage : public testing::TestWithParam<int> {};

TEST_P(Coverage, OfTheTruthAndOfARepeatIsAtLeastNineInTen) {
  int truth = 0, repeat = 0;
  std::vector<double> half_widths;
  constexpr int kRuns = 1000;
  for (int seed = 0; seed < kRuns; ++seed) {
    Machine machine(static_cast<std::uint64_t>(seed) + 1);
    const RatioEstimate first = paired_ratio(machine.run(GetParam()));
    const RatioEstimate second = paired_ratio(machine.run(GetParam()));
    truth += holds(*first.interval, 0.5);
    repeat += holds(*first.interval, second.ratio);
    half_widths.push_back(std::log(first.interval->high / first.ratio));
  }
  EXPECT_GE(truth, 900);
  EXPECT_GE(repeat, 900);
  // An interval without end would hold everything. A pair's logarithm has the variance of two launches (0.04 each), of
  // what the machine does between them (0.02 to either side, 0.03 at random) and of two medians of five iterations
  // (variance of a normal median of 5: 0.287, times 0.05 squared).
  const double deviation = std::sqrt(2 * 0.0016 + 0.0004 + 0.0009 + 2 * 0.287 * 0.0025);
  const double exact = student_t(GetParam() - 1) * std::sqrt(2 * M_PI / 3 / GetParam()) * deviation;
  EXPECT_LE(median(half_widths), 1.1 * exact);
}

INSTANTIATE_TEST_SUITE_P(Launches, Coverage, testing::Values(3, 5, 8), testing::PrintToStringParamName());

}  // namespace
}  // namespace hbench::interval_test
