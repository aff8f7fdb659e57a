// Which flat algorithms are held to what a library would run in their place, and what is stored of that.

#include "analysis/prediction/by_library.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/points/points.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/records/metrics.hpp"
#include "tests/bench/plan_example.hpp"

namespace hbench::by_library_test {
namespace {

/// `aws-p5 resnet50 512 ring` for each.
std::set<std::string> flat_of(const SweepRequest& request) {
  const Plan plan = plan_of(request);
  std::set<std::string> all;
  for (const PlannedCase* each : flat_cases(plan))
    all.insert(fmt::format("{} {} {} {}", each->asked.profile, each->asked.workload, each->asked.gpus,
                           each->asked.strategy.label()));
  return all;
}

SweepRequest large_request() {
  SweepRequest request = small_request();
  request.gpus = {8, 256, 512};
  request.profiles = {"aws-p5"};
  return request;
}

TEST(ByLibrary, ComparesOneFlatAlgorithmOfEachClusterAndWorkloadOnTheMostGpus) {
  SweepRequest request = large_request();
  request.workloads = {"resnet50", "vgg16"};
  request.profiles = {"aws-p5", "aws-p3-25gbe"};
  request.algorithms = {"ps", "hierarchical:direct:ring", "ring"};
  request.compressors = {"none", "fp16"};
  EXPECT_EQ(flat_of(request), (std::set<std::string>{"aws-p5 resnet50 512 ring", "aws-p5 vgg16 512 ring",
                                                     "aws-p3-25gbe resnet50 512 ring", "aws-p3-25gbe vgg16 512 ring"}));
  request = large_request();
  request.of_engine = false;
  EXPECT_EQ(flat_of(request), std::set<std::string>{"aws-p5 resnet50 512 ddp: ring"});
  request.algorithms.clear();
  EXPECT_EQ(flat_of(request), std::set<std::string>()) << "that is the library's";
  request = large_request();
  request.gpus = {8, 256};
  EXPECT_EQ(flat_of(request), std::set<std::string>{"aws-p5 resnet50 256 ring"});
  request.gpus = {8, 255};
  EXPECT_EQ(flat_of(request), std::set<std::string>()) << "too few";
  request.gpus = {512};
  request.algorithms = {"hierarchical:direct:ring", "ring@1MiB/halving-doubling", "ps"};
  EXPECT_EQ(flat_of(request), std::set<std::string>()) << "none is flat, or somebody chose by sizes";
}

TEST(ByLibrary, StoresTheStepByAnotherAlgorithmWithWhatTheFrameworkLoses) {
  for (const bool named : {false, true}) {
    SweepRequest request = large_request();
    request.gpus = {512};
    request.of_engine = !named;
    const Plan plan = plan_of(request);
    const PlannedCase& flat = plan.cases.at(0);
    SimulatedRunner runner(plan.catalog);
    CaseResult result = runner.run(flat);
    compare_with_library(result, flat, plan.catalog, INT64_MAX, {});
    const Point point = make_points({result}).front();
    TrainingStrategy strategy = flat.strategy;
    strategy.algorithm = parse_algorithm_rule("vendor");
    const SimulatedStep other = runner.step(planned(flat.asked, strategy));
    EXPECT_NEAR(point.by_library / (other.times.step.value * runner.step(flat).lost), 1, 1e-9);
    EXPECT_LT(point.by_library, point.step_seconds);
  }
}

/// What the library's model has no word for stays as it was asked for.
TEST(ByLibrary, LeavesOutWhatALibraryCannotCarry) {
  for (const auto& [method, compressor, more] :
       {std::tuple("synchronous", "none", 1), std::tuple("synchronous", "fp16", 1),
        std::tuple("synchronous", "int8", 0), std::tuple("hsdp:8", "none", 0)}) {
    SweepRequest request = large_request();
    request.gpus = {512};
    request.methods = {method};
    request.compressors = {compressor};
    const Plan plan = plan_of(request);
    ASSERT_EQ(plan.cases.size(), 1U) << method << compressor;
    CaseResult result = SimulatedRunner(plan.catalog).run(plan.cases.at(0));
    const std::size_t samples = result.samples.size();
    for (const char* part : {"ledger/exposed", "ledger/slowdown"})
      std::ranges::find(result.samples, part, &Sample::metric)->value = value_of(result, metric::kStep).value() / 4;
    compare_with_library(result, plan.cases.at(0), plan.catalog, INT64_MAX, {});
    EXPECT_EQ(result.samples.size(), samples + static_cast<std::size_t>(more)) << method << compressor;
  }
}

TEST(ByLibrary, SimulatesNothingThatCouldNotBeClearlyFaster) {
  SweepRequest request = large_request();
  request.gpus = {256};
  const Plan plan = plan_of(request);
  CaseResult result = SimulatedRunner(plan.catalog).run(plan.cases.at(0));
  const auto set = [&](const char* part, double share) {
    std::ranges::find(result.samples, part, &Sample::metric)->value = share * value_of(result, metric::kStep).value();
  };
  set("ledger/exposed", 0.1);
  set("ledger/slowdown", 0.02);
  const std::size_t samples = result.samples.size();
  compare_with_library(result, plan.cases.at(0), plan.catalog, INT64_MAX, {});
  EXPECT_EQ(result.samples.size(), samples) << "1.14 times as fast at most";
}

}  // namespace
}  // namespace hbench::by_library_test
