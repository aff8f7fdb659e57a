// Figures that are found again from steps that they made: tens of thousands of simulations.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "bench/launch/installation.hpp"
#include "tests/bench/fit_rows.hpp"

namespace hbench::fit_accuracy_test {
namespace {

TEST(FitAccuracy, FindsTheFiguresThatMadeTheSteps) {
  const Data data = load_data();
  const Profile base = data.profiles.load(kCluster);
  Profile truth = base;
  truth.local_rate = base.local_rate * 0.5;
  truth.server_rate = base.server_rate * 1.6;
  truth.network_latency = base.network_latency * 3;
  const FittedProfile fitted = fit_profile(base, measured_on(truth, rows_up_to(16), data), data);
  EXPECT_NEAR(fitted.profile.local_rate / truth.local_rate, 1, 0.05);
  EXPECT_NEAR(fitted.profile.server_rate / truth.server_rate, 1, 0.05);
  EXPECT_NEAR(fitted.profile.network_latency / truth.network_latency, 1, 0.35);
  EXPECT_TRUE(parameter_of(fitted, "local.rate").determined);
  EXPECT_TRUE(parameter_of(fitted, "parameter_server.rate").determined);
  for (const double error : fitted.fit.after) EXPECT_LT(std::fabs(error), 0.04);
  double least_certain = 0;
  for (const char* rate : {"local.rate", "network.line_rate", "parameter_server.rate"})
    if (const FittedParameter& parameter = parameter_of(fitted, rate); parameter.determined)
      least_certain = std::max(least_certain, parameter.deviation);
  EXPECT_NEAR(fitted.profile.uncertainty, 1.645 * least_certain, 1e-9) << "all rates are determined";
}

// Rows that differ by a tenth for reasons of their own: no rate becomes known better than that.
TEST(FitAccuracy, NarrowsNoBandBelowWhatRowsThatAreLeftOutAskFor) {
  const Data data = load_data();
  Profile base = data.profiles.load(kCluster);
  base.uncertainty = 0.3;
  Profile truth = base;
  truth.local_rate = base.local_rate * 0.5;
  truth.server_rate = base.server_rate * 1.6;
  std::vector<CaseResult> some = rows_up_to(8);
  std::erase_if(some, [](const CaseResult& row) { return row.asked.strategy.overlap || row.asked.gpus == 2; });
  const std::vector<CaseResult> exact = measured_on(truth, some, data);
  std::vector<CaseResult> noisy = exact;
  for (std::size_t i = 0; i < noisy.size(); ++i)
    for (Sample& sample : noisy[i].samples)
      if (sample.metric == "throughput") sample.value *= i % 3 == 0 ? 1.12 : i % 3 == 1 ? 0.9 : 1;
  const double sure = fit_profile(base, exact, data).profile.uncertainty;
  const double unsure = fit_profile(base, noisy, data).profile.uncertainty;
  EXPECT_LT(sure, unsure);
  EXPECT_GE(unsure, 0.1);
}

}  // namespace
}  // namespace hbench::fit_accuracy_test
