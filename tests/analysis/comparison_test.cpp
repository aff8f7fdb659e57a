#include <gmock/gmock.h>

#include <functional>

#include "analysis/points/points.hpp"
#include "example_results.hpp"

namespace hbench::comparison_test {
namespace {

Point point(Evidence evidence, double efficiency) {
  Point point;
  point.asked = example_case(evidence);
  point.efficiency = efficiency;
  return point;
}

TEST(Comparison, IsSimulatedMinusPublished) {
  const auto pairs = compare_with_published({point(Evidence::published, 0.75), point(Evidence::simulated, 0.5)});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].difference, -0.25);
  EXPECT_EQ(pairs[0].simulated.asked.evidence, Evidence::simulated);
  EXPECT_EQ(pairs[0].published.asked.evidence, Evidence::published);
}

TEST(Comparison, IgnoresParametersOfTheFusionPolicyTheNumberOfServersAndTheSource) {
  Point published = point(Evidence::published, 0.75);
  published.asked.strategy.fusion = "horovod";
  published.asked.strategy.servers = 99;
  published.asked.source = "a paper";
  published.asked.image_size = 0;
  EXPECT_EQ(compare_with_published({point(Evidence::simulated, 0.5), published}).size(), 1u);
}

TEST(Comparison, WantsTheSameEverythingElse) {
  const std::vector<std::function<void(Point&)>> changes{
      [](Point& p) { p.asked.workload = "vgg16"; },
      [](Point& p) { p.asked.gpus = 8; },
      [](Point& p) { p.asked.profile = "other"; },
      [](Point& p) { p.asked.batch_per_gpu = 64; },
      [](Point& p) { p.asked.strategy.algorithm = "ring"; },
      [](Point& p) { p.asked.strategy.placement = "sliced"; },
      [](Point& p) { p.asked.strategy.server_mode = "colocated"; },
      [](Point& p) { p.asked.strategy.compressor = "none"; },
      [](Point& p) { p.asked.strategy.fusion = "horovod-2018:64MiB:5ms"; },
      [](Point& p) { p.asked.strategy.overlap = true; },
      [](Point& p) { p.asked.evidence = Evidence::measured; },
      [](Point& p) { p.failed = true; },
      [](Point& p) { p.efficiency.reset(); }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Point published = point(Evidence::published, 0.75);
    changes[i](published);
    EXPECT_TRUE(compare_with_published({point(Evidence::simulated, 0.5), published}).empty()) << "change " << i;
  }
}

// 25 of 40 samples/s where 0.5 is simulated.
TEST(Comparison, TakesTheSimulatedRateOfOneGpuWhereASourceStatesNone) {
  Point published = point(Evidence::published, 0), simulated = point(Evidence::simulated, 0.5);
  published.efficiency.reset();
  published.throughput = 25;
  simulated.throughput = 40;
  const auto pairs = compare_with_published({published, simulated});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_DOUBLE_EQ(*pairs[0].published.efficiency, 0.3125);
  EXPECT_DOUBLE_EQ(pairs[0].difference, 0.1875);
}

TEST(Comparison, GivesEveryPair) {
  const auto pairs = compare_with_published({point(Evidence::published, 0.75), point(Evidence::simulated, 0.5),
                                             point(Evidence::published, 0.25), point(Evidence::simulated, 0.625)});
  ASSERT_EQ(pairs.size(), 4u);
  const ComparisonSummary summary = summarize(pairs);
  EXPECT_EQ(summary.count, 4u);
  EXPECT_EQ(summary.maximum, 0.375);
  EXPECT_EQ(summary.mean, (0.25 + 0.25 + 0.125 + 0.375) / 4);
}

TEST(Comparison, OfNothingIsZero) {
  const ComparisonSummary summary = summarize(std::vector<Comparison>());
  EXPECT_EQ(summary.count, 0u);
  EXPECT_EQ(summary.mean, 0);
  EXPECT_EQ(summary.maximum, 0);
}

}  // namespace
}  // namespace hbench::comparison_test
