// The model's own error: closed forms of small tables, and how often bands hold what they promise.

#include "analysis/points/model_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hbench {
namespace {

/// A step simulated as 1 s, with this share of communication, that took `exp(off)` s.
Residual residual(const std::string& cluster, double off, double communication = 0) {
  return {.cluster = cluster, .low = 1, .high = 1, .communication = communication, .seen = std::exp(off)};
}

TEST(ModelError, AddsErrorsOfComputeAndOfCommunicationAsIndependentOnes) {
  const ModelError error{.compute = 0.3, .communication = 0.8};
  EXPECT_DOUBLE_EQ(error.half_width(0), 0.3);
  EXPECT_DOUBLE_EQ(error.half_width(0.5), 0.5);
}

TEST(Excess, IsHowFarAStepIsOutsideTheProfilesBand) {
  const Residual inside{.cluster = "a", .low = 1, .high = 4, .communication = 0, .seen = 2};
  EXPECT_DOUBLE_EQ(excess(inside), -std::log(2));
  Residual slow = inside, fast = inside;
  slow.seen = 8;
  fast.seen = 0.25;
  EXPECT_DOUBLE_EQ(excess(slow), std::log(2));
  EXPECT_DOUBLE_EQ(excess(fast), std::log(4));
  EXPECT_TRUE(holds({.compute = 0.7, .communication = 0}, slow));
  EXPECT_FALSE(holds({.compute = 0.69, .communication = 0}, slow));
}

// Errors of 1 % to 19 % on as many clusters. The next cluster is as likely to lie before, between or beyond them, so
// nine of ten are 18 % at most: the 18th of 20 places.
TEST(FitModelError, HoldsNineOfTenNextClustersAndIsNoWiderThanThat) {
  std::vector<Residual> residuals;
  for (int i = 1; i <= 19; ++i) residuals.push_back(residual(std::to_string(i), i % 2 == 0 ? i / 100.0 : -i / 100.0));
  const ModelError error = fit_model_error(residuals);
  EXPECT_NEAR(error.compute, 0.18, 1e-12);
  EXPECT_EQ(error.communication, 0);
}

TEST(FitModelError, HoldsAllOfFewerThanNineClusters) {
  std::vector<Residual> residuals;
  for (int i = 1; i <= 8; ++i) residuals.push_back(residual(std::to_string(i), i / 100.0));
  EXPECT_NEAR(fit_model_error(residuals).compute, 0.08, 1e-12);
}

TEST(FitModelError, CountsClustersAlikeHoweverManyStepsTheyHave) {
  std::vector<Residual> residuals(97, residual("many", 0.01));
  residuals.push_back(residual("few", 0.2));
  EXPECT_NEAR(fit_model_error(residuals).compute, 0.2, 1e-12);
}

// Errors that grow with the share of communication, from none: a band of their shape is narrower than an even one.
TEST(FitModelError, LearnsWhetherCommunicationIsWhatIsUncertain) {
  std::vector<Residual> residuals;
  for (int i = 0; i <= 20; ++i) residuals.push_back(residual("a", 0.5 * i / 20, i / 20.0));
  const ModelError error = fit_model_error(residuals);
  EXPECT_NEAR(error.communication, 0.5, 0.03);
  EXPECT_LT(error.compute, 0.05);
  EXPECT_GT(error.compute, 1e-6) << "a step without communication has a band, too";
}

// One step asks for 0.3 where half of it is communication. An even band is 0.3 wide on all three clusters, one of
// communication alone 0.06, 0.3 and 0.6: more on average over clusters, less over the many steps of the quiet one.
TEST(FitModelError, IsTheNarrowestOnAverageOverClusters) {
  std::vector<Residual> residuals(97, residual("quiet", 0, 0.1));
  residuals.push_back(residual("middle", 0.3, 0.5));
  residuals.push_back(residual("busy", 0, 1));
  const ModelError error = fit_model_error(residuals);
  EXPECT_NEAR(error.compute, 0.3, 1e-12);
  EXPECT_EQ(error.communication, 0);
}

TEST(FitModelError, IsNothingWhereTheProfilesBandHoldsEnough) {
  const Residual inside{.cluster = "a", .low = 0.5, .high = 2, .communication = 0.5, .seen = 1};
  const ModelError error = fit_model_error({inside, inside});
  EXPECT_EQ(error.compute, 0);
  EXPECT_EQ(error.communication, 0);
}

TEST(CoverageElsewhere, IsThatOfBandsThatKnowOnlyOtherClusters) {
  EXPECT_EQ(coverage_elsewhere({residual("exact", 0), residual("off", 0.1)}), 0.5);
  EXPECT_EQ(coverage_elsewhere({residual("a", 0.11), residual("b", -0.1)}), 0.5);
  // Of the one that is off the three steps are as one.
  EXPECT_DOUBLE_EQ(
      coverage_elsewhere({residual("exact", 0), residual("off", 0.1), residual("off", 0.1), residual("off", 0)}),
      (1 + 1 / 3.0) / 2);
}

// Twenty clusters, each with an error of its own beside those of its steps.
TEST(CoverageElsewhere, IsAboutTheLevelWhereClustersAreOfOneKind) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  double coverage = 0;
  constexpr int kTables = 40;
  for (int table = 0; table < kTables; ++table) {
    std::vector<Residual> residuals;
    for (int cluster = 0; cluster < 20; ++cluster) {
      const double own = 0.08 * normal(random);
      for (int step = 0; step < 5; ++step) {
        const double share = step / 5.0;
        residuals.push_back(residual(std::to_string(cluster), own + 0.1 * share * normal(random), share));
      }
    }
    coverage += coverage_elsewhere(residuals) / kTables;
  }
  EXPECT_GT(coverage, 0.85);
  EXPECT_LT(coverage, 0.95);
}

}  // namespace
}  // namespace hbench
