// Fits of linear models, whose solutions are known in closed form.

#include "analysis/fit/parameter_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hbench::parameter_fit_test {
namespace {

/// Errors a_i . x - b_i.
LogErrors linear(std::vector<std::vector<double>> a, std::vector<double> b) {
  return [a = std::move(a), b = std::move(b)](std::span<const double> x) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < b.size(); ++i) {
      errors.push_back(-b[i]);
      for (std::size_t p = 0; p < x.size(); ++p) errors.back() += a[i][p] * x[p];
    }
    return errors;
  };
}

// One parameter, three observations of 0.1 with noise 0.05 and a prior of 0.1: the weights are 3 / 0.05^2 = 1200 and
// 1 / 0.1^2 = 100, so x = 0.1 * 1200 / 1300 and its deviation is 1 / sqrt(1300).
TEST(FitParameters, WeighsObservationsAgainstThePrior) {
  const ParameterFit fit = fit_parameters({{"rate", 0.1}}, 0.05, linear({{1}, {1}, {1}}, {0.1, 0.1, 0.1}));
  EXPECT_NEAR(fit.parameters[0].log_factor, 0.12 / 1.3, 1e-9);
  EXPECT_NEAR(fit.parameters[0].deviation, 1 / std::sqrt(1300), 1e-9);
  EXPECT_TRUE(fit.parameters[0].determined);
  EXPECT_NEAR(fit.parameters[0].half_width(), 0.0456, 1e-4) << "1.645 deviations";
  EXPECT_NEAR(fit.parameters[0].factor(), 1.0467, 1e-4) << "1.0467 = e^0.0456";
  EXPECT_NEAR(fit.before[0], -0.1, 1e-12);
  EXPECT_NEAR(fit.after[0], 0.12 / 1.3 - 0.1, 1e-9);
}

// Errors of +0.2 and -0.2 around the fit, where noise explains 0.1: sums of squares of 8 for the one observation that
// is left over, so that the deviation is sqrt(8) times as large, and never larger than before.
TEST(FitParameters, AreLessSureWhereErrorsRemainThatNoiseDoesNotExplain) {
  const LogErrors errors = linear({{1}, {1}}, {0.2, -0.2});
  const double usual = 1 / std::sqrt(1 / 100.0 + 2 / 0.01);
  EXPECT_NEAR(fit_parameters({{"x", 10}}, 0.1, errors).parameters[0].deviation, std::sqrt(8) * usual, 1e-6);
  EXPECT_DOUBLE_EQ(fit_parameters({{"x", 0.05}}, 0.1, errors).parameters[0].deviation, 0.05);
}

// x and y enter only as their sum, so that each keeps most of its prior: only the sum is known.
TEST(FitParameters, SaysWhatObservationsDoNotTellApart) {
  const ParameterFit fit =
      fit_parameters({{"x", 1}, {"y", 1}, {"z", 1}}, 0.01, linear({{1, 1, 0}, {1, 1, 0}}, {0.4, 0.4}));
  EXPECT_NEAR(fit.parameters[0].log_factor, 0.2, 1e-3);
  EXPECT_NEAR(fit.parameters[1].log_factor, 0.2, 1e-3);
  EXPECT_FALSE(fit.parameters[0].determined);
  EXPECT_FALSE(fit.parameters[1].determined);
  EXPECT_NEAR(fit.parameters[0].deviation, std::sqrt(0.5), 1e-3);
  EXPECT_EQ(fit.parameters[2].log_factor, 0) << "nothing depends on it";
  EXPECT_DOUBLE_EQ(fit.parameters[2].deviation, 1);
}

TEST(FitParameters, FindsFactorsOfAModelThatIsNotLinear) {
  // Two rates in series, observed where either matters: ln(a/e^x + b/e^y) against that of x = ln 2, y = -ln 3.
  const auto model = [](double a, double b, double x, double y) { return std::log(a / std::exp(x) + b / std::exp(y)); };
  const std::vector<std::pair<double, double>> work{{9, 1}, {1, 9}, {5, 5}, {1, 1}};
  const ParameterFit fit = fit_parameters({{"x", 2}, {"y", 2}}, 0.01, [&](std::span<const double> at) {
    std::vector<double> errors;
    for (const auto& [a, b] : work)
      errors.push_back(model(a, b, at[0], at[1]) - model(a, b, std::log(2), -std::log(3)));
    return errors;
  });
  EXPECT_NEAR(std::exp(fit.parameters[0].log_factor), 2, 0.02);
  EXPECT_NEAR(std::exp(fit.parameters[1].log_factor), 1 / 3.0, 0.005);
}

// Eleven observations of 0 and one of 1: with squares alone x would be 0.083.
TEST(FitParameters, IsNotLedAstrayByOneObservation) {
  std::vector<double> seen(12, 0);
  seen[5] = 1;
  const ParameterFit fit = fit_parameters({{"x", 10}}, 0.01, linear(std::vector<std::vector<double>>(12, {1}), seen));
  EXPECT_LT(fit.parameters[0].log_factor, 0.003);
  EXPECT_LT(fit.weights[5], 0.03);
  EXPECT_EQ(fit.weights[0], 1);
}

// As above, but one of x and y explains what is seen, and z nothing.
TEST(FitDetermined, LeavesWhatIsHardlyDeterminedWhereItWas) {
  const ParameterFit fit =
      fit_determined({{"x", 1}, {"y", 1}, {"z", 1}}, 0.01, linear({{1, 1, 0}, {1, 1, 0}}, {0.4, 0.4}));
  EXPECT_EQ(fit.parameters[2].log_factor, 0);
  EXPECT_EQ(std::min(fit.parameters[0].log_factor, fit.parameters[1].log_factor), 0);
  EXPECT_NEAR(std::max(fit.parameters[0].log_factor, fit.parameters[1].log_factor), 0.4, 1e-3);
  EXPECT_NE(fit.parameters[0].determined, fit.parameters[1].determined);
  EXPECT_NEAR(fit.before[0], -0.4, 1e-12);
  EXPECT_EQ(fit.gradients[0].size(), 3u);
}

// Two observations that are three priors away: they say little of the value, and much against 0.
TEST(FitDetermined, MovesWhatTheObservationsContradict) {
  const ParameterFit fit = fit_determined({{"x", 0.1}}, 0.1, linear({{1}, {1}}, {0.3, 0.3}));
  EXPECT_FALSE(fit.parameters[0].determined);
  EXPECT_NEAR(fit.parameters[0].log_factor, 0.2, 1e-6);
}

TEST(FitDetermined, ExceedsNoLimit) {
  const ParameterFit fit =
      fit_determined({{"x", 1, 0.1}, {"y", 1}}, 0.01, linear({{1, 0}, {1, 0}, {0, 1}, {1, 1}}, {0.4, 0.4, 0.2, 0.5}));
  EXPECT_EQ(fit.parameters[0].log_factor, 0.1);
  EXPECT_TRUE(fit.parameters[0].limited);
  EXPECT_FALSE(fit.parameters[1].limited);
  EXPECT_GT(fit.parameters[1].log_factor, 0.2) << "fitted to what the limit leaves";
}

// Of a linear model the estimate is exact: the same as a fit to the others.
TEST(LeftOut, IsTheErrorOfAFitToTheOtherGroups) {
  const std::vector<std::vector<double>> a{{1, 0}, {1, 1}, {0, 1}, {1, 2}, {2, 1}};
  const std::vector<double> b{0.010, 0.004, -0.003, 0.002, 0.012};
  const std::vector<std::string> groups{"p", "p", "q", "r", "r"};
  const std::vector<Prior> priors{{"x", 1}, {"y", 1}};
  const std::vector<double> estimated = fit_parameters(priors, 0.05, linear(a, b)).left_out(groups);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<std::vector<double>> others;
    std::vector<double> seen;
    for (std::size_t j = 0; j < a.size(); ++j)
      if (groups[j] != groups[i]) {
        others.push_back(a[j]);
        seen.push_back(b[j]);
      }
    const ParameterFit fit = fit_parameters(priors, 0.05, linear(others, seen));
    const double error = a[i][0] * fit.parameters[0].log_factor + a[i][1] * fit.parameters[1].log_factor - b[i];
    EXPECT_NEAR(estimated[i], error, 2e-3) << i;
  }
}

}  // namespace
}  // namespace hbench::parameter_fit_test
