// How often bands hold what they promise: closed forms of small tables, and tables drawn by chance.

#include "analysis/points/coverage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hbench::coverage_test {
namespace {

/// A step that took `exp(off)` times what was simulated, with a band of `slower` and `faster`.
Residual residual(const std::string& source, double off, double slower = 0.1, double faster = 0.1) {
  return {.source = source, .unknowns = {{UnknownKind::source, slower, faster}}, .off = off};
}

double share(const std::vector<bool>& held, const std::vector<Residual>& residuals) {
  return mean_over(residuals, &Residual::source, std::vector<double>(held.begin(), held.end()));
}

TEST(ScaleNeeded, IsThatOfTheEndAtWhichTheStepLies) {
  EXPECT_NEAR(scale_needed(residual("a", 0.3, 0.1, 0.5)), 3, 1e-12);
  EXPECT_NEAR(scale_needed(residual("a", -0.3, 0.1, 0.5)), 0.6, 1e-12);
  EXPECT_TRUE(holds(residual("a", -0.3, 0.1, 0.5)));
  EXPECT_FALSE(holds(residual("a", 0.3, 0.1, 0.5)));
  EXPECT_TRUE(holds(residual("a", 0.3, 0.1, 0.5), 3.01));
}

// Errors of 1 % to 19 % of as many sources. The next source is as likely to lie before, between or beyond them, so nine
// of ten are 18 % at most: the 18th of 20 places.
/// A band of a factor e has a width of 1; a step that lies a factor e outside costs 2 / 0.1 more.
TEST(IntervalScore, IsTheWidthOfTheBandAndTwentyTimesTheMissOfAStepOutsideIt) {
  const double e = std::exp(1.0);
  for (const double held : {1.0, 2.0, e}) EXPECT_DOUBLE_EQ(interval_score(1, e, held), 1);
  EXPECT_NEAR(interval_score(1, e, 1 / e), 21, 1e-12);
  EXPECT_NEAR(interval_score(1, e, e * e), 21, 1e-12);
  EXPECT_EQ(interval_score(2, 2, 2), 0);
}

TEST(FitScale, HoldsNineOfTenNextSourcesAndIsNoWiderThanThat) {
  std::vector<Residual> residuals;
  for (int i = 1; i <= 19; ++i) residuals.push_back(residual(std::to_string(i), i % 2 == 0 ? i / 100.0 : -i / 100.0));
  EXPECT_NEAR(fit_scale(residuals, &Residual::source), 1.8, 1e-12);
}

TEST(FitScale, HoldsAllOfFewerThanNineSources) {
  std::vector<Residual> residuals;
  for (int i = 1; i <= 8; ++i) residuals.push_back(residual(std::to_string(i), i / 100.0));
  EXPECT_NEAR(fit_scale(residuals, &Residual::source), 0.8, 1e-12);
}

TEST(FitScale, CountsSourcesAlikeHoweverManyStepsTheyHave) {
  std::vector<Residual> residuals(97, residual("many", 0.01));
  residuals.push_back(residual("few", 0.2));
  EXPECT_NEAR(fit_scale(residuals, &Residual::source), 2, 1e-12);
}

TEST(HeldElsewhere, IsOfBandsThatKnowOnlyOtherSources) {
  const auto held = [](const std::vector<Residual>& residuals) {
    return share(held_elsewhere(residuals, &Residual::source), residuals);
  };
  EXPECT_EQ(held({residual("exact", 0), residual("off", 0.1)}), 0.5);
  EXPECT_EQ(held({residual("a", 0.11), residual("b", -0.1)}), 0.5);
  // Of the one that is off the three steps are as one.
  EXPECT_DOUBLE_EQ(held({residual("exact", 0), residual("off", 0.1), residual("off", 0.1), residual("off", 0)}),
                   (1 + 1 / 3.0) / 2);
}

// Twenty sources, each with an error of its own beside those of its steps.
TEST(HeldElsewhere, IsAboutTheLevelWhereSourcesAreOfOneKind) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  double coverage = 0;
  constexpr int kTables = 40;
  for (int table = 0; table < kTables; ++table) {
    std::vector<Residual> residuals;
    for (int source = 0; source < 20; ++source) {
      const double own = 0.08 * normal(random);
      for (int step = 0; step < 5; ++step)
        residuals.push_back(residual(std::to_string(source), own + 0.05 * normal(random)));
    }
    coverage += share(held_elsewhere(residuals, &Residual::source), residuals) / kTables;
  }
  EXPECT_GT(coverage, 0.85);
  EXPECT_LT(coverage, 0.95);
}

}  // namespace
}  // namespace hbench::coverage_test
