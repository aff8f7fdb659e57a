#include "bench/sweep/plan.hpp"

#include <set>

#include "tests/bench/plan_example.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::published_plan_test {
namespace {

TEST(PublishedPlan, TakesThePublishedFiguresOfAFramework) {
  SweepRequest request = small_request();
  request.gpus = {8, 16};
  request.algorithms = {};
  request.presets = {"byteps"};
  request.evidence = {Evidence::published, Evidence::simulated};
  const Plan plan = plan_of(request);
  EXPECT_THAT(plan.published, Not(IsEmpty()));
  for (const CaseResult& figure : plan.published) EXPECT_EQ(figure.asked.strategy.preset, "byteps");
  for (const Case& asked : plan.cases) EXPECT_EQ(asked.strategy.preset, "byteps");
}

// Sources measured ResNet-50 on 4, 8, 16 and 32 GPUs, and nothing between.
TEST(PublishedPlan, TakesPublishedFiguresAtBothEndsOfTheRange) {
  const auto counts = [](int fewest, int most) {
    SweepRequest request;
    request.gpus = {fewest, most};
    request.workloads = {"resnet50"};
    request.profiles = {"hkbu-10gbe"};
    request.evidence = {Evidence::published, Evidence::simulated};
    std::set<int> found;
    for (const CaseResult& figure : plan_of(request).published) found.insert(figure.asked.gpus);
    return found;
  };
  EXPECT_EQ(counts(4, 32), (std::set<int>{4, 8, 16, 32}));
  EXPECT_EQ(counts(5, 31), (std::set<int>{8, 16}));
}

TEST(PublishedPlan, GivesEveryPublishedFigureASimulatedTwin) {
  SweepRequest request;
  request.gpus = {1, 64};
  request.evidence = {Evidence::simulated, Evidence::published};
  const Plan plan = plan_of(request);
  ASSERT_GT(plan.published.size(), 10);
  int twins = 0;
  for (const CaseResult& figure : plan.published) {
    EXPECT_EQ(figure.asked.evidence, Evidence::published);
    EXPECT_GE(figure.asked.gpus, 1);
    EXPECT_LE(figure.asked.gpus, 64);
    const bool refused = std::ranges::any_of(plan.refused, [&](const Refusal& refusal) {
      return refusal.what == fmt::format("{} on {}", figure.asked.workload, figure.asked.profile);
    });
    const bool twin = std::ranges::any_of(plan.cases, [&](const Case& asked) {
      return asked.workload == figure.asked.workload && asked.profile == figure.asked.profile &&
             asked.gpus == figure.asked.gpus && asked.strategy == figure.asked.strategy;
    });
    EXPECT_TRUE(twin || refused) << figure.asked.key();
    twins += twin;
  }
  EXPECT_GT(twins, 10);
}

TEST(PublishedPlan, TakesPublishedFiguresOfWhatWasAskedForOnly) {
  SweepRequest request = small_request();
  request.gpus = {8, 16};
  request.evidence = {Evidence::published};
  const Plan plan = plan_of(request);
  ASSERT_THAT(plan.published, Not(IsEmpty()));
  for (const CaseResult& figure : plan.published) {
    EXPECT_EQ(figure.asked.workload, "resnet50");
    EXPECT_EQ(figure.asked.profile, "hkbu-10gbe");
    EXPECT_EQ(figure.asked.strategy.algorithm, "ring");
    EXPECT_THAT(figure.asked.gpus, AnyOf(8, 16));
  }
  EXPECT_THAT(plan.cases, IsEmpty());
}

}  // namespace
}  // namespace hbench::published_plan_test
