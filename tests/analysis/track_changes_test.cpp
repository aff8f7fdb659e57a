// Where series of runs change their level: by hand, and how often on noise.

#include "analysis/track/changes.hpp"

#include <random>

#include "tests/support/matchers.hpp"

namespace hbench::track_changes_test {
namespace {

/// Runs that take `level` times one of 0.999, 1 and 1.001.
void add(std::vector<double>& series, double level, int runs) {
  for (int run = 0; run < runs; ++run) series.push_back(level * (1 + 0.001 * (run % 3 - 1)));
}

std::vector<double> levels(std::initializer_list<std::pair<double, int>> all) {
  std::vector<double> series;
  for (const auto& [level, runs] : all) add(series, level, runs);
  return series;
}

TEST(ChangePoints, AreWhereNewLevelsBegin) {
  EXPECT_THAT(change_points(levels({{1, 20}, {1.05, 10}})), ElementsAre(20));
  EXPECT_THAT(change_points(levels({{1, 20}, {1.05, 10}, {1, 7}, {0.9, 5}})), ElementsAre(20, 30, 37));
  EXPECT_THAT(change_points(levels({{1, 30}})), IsEmpty());
}

TEST(ChangePoints, AreAtLeastTheLeastEffectApart) {
  EXPECT_THAT(change_points(levels({{1, 20}, {1.029, 20}})), IsEmpty());
  EXPECT_THAT(change_points(levels({{1, 20}, {1.031, 20}})), ElementsAre(20));
  EXPECT_THAT(change_points(levels({{1, 20}, {1.029, 20}}), {.least_effect = 0.02}), ElementsAre(20));
  EXPECT_THAT(change_points(levels({{1, 20}, {1.025, 20}, {1.05, 20}})), ElementsAre(AnyOf(20, 40)))
      << "one of two small steps, whose ends are far apart";
}

TEST(ChangePoints, AreNoSingleBadRuns) {
  std::vector<double> series = levels({{1, 30}});
  series[10] = 1.5;
  series[20] = series[21] = 1.3;
  EXPECT_THAT(change_points(series), IsEmpty());
  series[22] = 1.3;
  EXPECT_THAT(change_points(series), ElementsAre(20, 23)) << "three are a level";
  EXPECT_THAT(change_points(series, {.shortest = 4}), IsEmpty());
}

TEST(ChangePoints, NeedTwoLevelsWorthOfRuns) {
  EXPECT_THAT(change_points(std::vector<double>{}), IsEmpty());
  EXPECT_THAT(change_points(levels({{1, 2}, {2, 3}})), IsEmpty());
  EXPECT_THAT(change_points(levels({{1, 3}, {2, 3}})), ElementsAre(3));
}

TEST(ChangePoints, OfEqualValuesAreNone) {
  EXPECT_THAT(change_points(std::vector<double>(50, 0.25)), IsEmpty());
  std::vector<double> steps(10, 1.0);
  steps.resize(20, 2.0);
  EXPECT_THAT(change_points(steps), ElementsAre(10)) << "zero variance";
}

TEST(ChangePoints, AreLookedForAmongTheNewestRuns) {
  const std::vector<double> series = levels({{2, 30}, {1, 20}, {1.1, 10}});
  EXPECT_THAT(change_points(series), ElementsAre(30, 50));
  EXPECT_THAT(change_points(series, {.most_runs = 30}), ElementsAre(50));
}

// 1 % of noise, 500 series of 100 runs: few of equal runs have a change, and one of 5 % is found to within two runs.
TEST(ChangePoints, AreSeldomSeenInNoiseAndFoundWhereTheyAre) {
  std::mt19937 random(3);
  std::lognormal_distribution<double> noise(0, 0.01);
  int false_changes = 0, found = 0;
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<double> equal(100), changed(100);
    for (double& value : equal) value = noise(random);
    for (std::size_t i = 0; i < 100; ++i) changed[i] = noise(random) * (i < 60 ? 1 : 1.05);
    false_changes += change_points(equal).empty() ? 0 : 1;
    const std::vector<std::size_t> seen = change_points(changed);
    found += seen.size() == 1 && seen[0] >= 58 && seen[0] <= 62 ? 1 : 0;
  }
  EXPECT_LE(false_changes, 5);
  EXPECT_GE(found, 475);
}

}  // namespace
}  // namespace hbench::track_changes_test
