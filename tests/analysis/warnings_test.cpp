#include "analysis/points/point.hpp"

#include "analysis/points/points.hpp"
#include "analysis/records/machine_facts.hpp"
#include "example_results.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::warnings_test {
namespace {

CaseResult launches(std::vector<std::vector<std::vector<double>>> seconds) {
  return {.asked = example_case(), .samples = steps(seconds)};
}

/// `seconds` of the baseline launch beside each launch.
CaseResult with_baseline(CaseResult result, std::vector<double> seconds) {
  for (int launch = 0; launch < std::ssize(seconds); ++launch)
    result.samples.push_back(
        {.launch = launch, .metric = std::string(metric::kPairedBaseline), .value = seconds[launch], .unit = "s"});
  return result;
}

void add_load(CaseResult& result, int launch, double cores, double own, double others, double stolen) {
  const auto add = [&](std::string_view name, double value) {
    result.samples.push_back({.launch = launch, .metric = std::string(name), .value = value, .unit = "cores"});
  };
  add(metric::kCores, cores);
  add(metric::kOwnCores, own);
  add(metric::kOtherCores, others);
  add(metric::kStolenCores, stolen);
}

std::vector<std::string> warnings(const CaseResult& result) { return make_points({result}).front().warnings; }

TEST(Warnings, AreNoneOfAQuietCase) {
  CaseResult result = with_baseline(launches({{{2}, {2.1}}, {{2.1}, {2}}, {{2}, {2.05}}}), {1, 1.05, 1});
  for (int launch = 0; launch < 3; ++launch) add_load(result, launch, 2, 1.9, 0.05, 0);
  EXPECT_THAT(warnings(result), IsEmpty());
}

TEST(Warnings, SayWhereATestMadeARankSlow) {
  CaseResult result = with_baseline(launches({{{2}, {2.1}}, {{2.1}, {2}}, {{2}, {2.05}}}), {1, 1.05, 1});
  result.samples.push_back({.rank = 1, .metric = std::string(metric::kTestDelay), .value = 0.005, .unit = "s"});
  EXPECT_THAT(warnings(result),
              ElementsAre("not a real figure: a test made rank 1 slower by 5 ms (HBENCH_TEST_DELAY)"));
}

TEST(Warnings, NameAnEfficiencyAboveTheIdealBeyondItsIntervalOrByFivePerCent) {
  EXPECT_THAT(warnings(with_baseline(launches({{{1}}, {{1}}, {{1}}}), {1.2, 1.21, 1.2})),
              ElementsAre(HasSubstr("120 % is above the ideal")));
  EXPECT_THAT(warnings(with_baseline(launches({{{1}}, {{1}}, {{1}}}), {1.05, 1.0, 1.03})), IsEmpty());
  EXPECT_THAT(warnings(with_baseline(launches({{{1}}, {{1}}, {{1}}}), {1.0, 1.2, 1.08})),
              Contains("an efficiency of 109 % is above the ideal: the baseline was slower than it can be"));
}

TEST(Warnings, NameAMachineThatChangedFromTheFirstLaunchToTheLast) {
  // Efficiencies 0.5, 0.52, 0.56, 0.6, 0.62: the ends are 24 % apart, the interval 17 % to one side.
  const CaseResult result = with_baseline(launches({{{2}}, {{2}}, {{2}}, {{2}}, {{2}}}), {1.0, 1.04, 1.12, 1.2, 1.24});
  EXPECT_THAT(warnings(result), ElementsAre(HasSubstr("last launch was 24 % faster")));
}

TEST(Warnings, NameABusyMachineWhereNoCoreWasFree) {
  CaseResult result = launches({{{1}}, {{1}}, {{1}}});
  add_load(result, 0, 2, 1.0, 0.9, 0);  // the other core
  add_load(result, 1, 2, 1.9, 0.05, 0);
  add_load(result, 2, 64, 2, 30, 0);  // enough for all
  EXPECT_THAT(warnings(result), ElementsAre(HasSubstr("0.9 of 64 cores during 1 of 3 launches")));
}

TEST(Warnings, NameAHypervisorThatTakesCores) {
  CaseResult result = launches({{{1}}, {{1}}});
  add_load(result, 0, 4, 1, 0, 0.3);
  add_load(result, 1, 4, 1, 0, 0.1);
  EXPECT_THAT(warnings(result), ElementsAre(HasSubstr("0.3 of 4 cores during 1 of 2 launches")));
}

TEST(Warnings, NameSlowLaunchesAndSlowSteps) {
  EXPECT_THAT(warnings(launches({{{1}}, {{1.6}}, {{1}}, {{1.02}}})),
              ElementsAre(HasSubstr("1 of 4 launches took up to 1.6 times")));
  EXPECT_THAT(warnings(launches({{{1}}, {{1.5}}, {{1}}, {{1}}})), IsEmpty()) << "half as long again is not slow";
  EXPECT_THAT(warnings(launches({{{1}, {1}, {2.5}, {1}, {1}}, {{1}, {1}, {2.5}, {1}, {1}}})),
              ElementsAre(HasSubstr("2 of 10 iterations")));
}

TEST(Warnings, NameThrottledIterationsAndLostLaunches) {
  CaseResult result = launches({{{1}, {1}}});
  for (const auto& [iteration, reasons] : {std::pair(0, 0x1), {1, 0x40}})
    result.samples.push_back(
        {.iteration = iteration, .metric = "step_clock_reasons", .value = static_cast<double>(reasons)});
  result.samples.push_back({.launch = 1, .metric = std::string(metric::kLaunchLost), .value = 5});
  EXPECT_THAT(warnings(result), ElementsAre(HasSubstr("1 of 2 iterations"), HasSubstr("1 launch failed")));
}

}  // namespace
}  // namespace hbench::warnings_test
