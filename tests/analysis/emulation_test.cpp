#include "analysis/records/emulation.hpp"

#include <functional>

#include "analysis/points/points.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::emulation_test {
namespace {

Sample sample(std::string_view metric, double value, int launch = 0, int rank = 0, const char* unit = "1") {
  return {.launch = launch, .rank = rank, .metric = std::string(metric), .value = value, .unit = unit};
}

/// Two GPUs that train 8 samples each; one alone does 100 samples/s, so 80 ms a step. `steps` are the launches' in
/// seconds.
CaseResult emulated(const std::vector<double>& steps) {
  CaseResult result;
  result.asked.evidence = Evidence::emulated;
  result.asked.workload = "resnet50";
  result.asked.profile = "lab";
  result.asked.gpus = 2;
  result.asked.batch_per_gpu = 8;
  result.asked.strategy = {.algorithm = "ring", .compressor = "none", .fusion = "ddp"};
  result.samples.push_back(sample("baseline_throughput", 100, 0, 0, "samples/s"));
  for (int launch = 0; launch < std::ssize(steps); ++launch) {
    const double step = steps[static_cast<std::size_t>(launch)];
    for (int rank = 0; rank < 2; ++rank) {
      result.samples.push_back(sample("step_seconds", step, launch, rank, "s"));
      result.samples.push_back(sample(metric::kDilatedStep, 50 * step, launch, rank, "s"));
      result.samples.push_back(sample(metric::kReplayTime, rank == 0 ? 0.1 : 0.4, launch, rank, "s"));
    }
    result.samples.push_back(sample(metric::kDilation, 50, launch));
    result.samples.push_back(sample(metric::kLinkLeast, 0.99 + 0.001 * launch, launch));
    result.samples.push_back(sample(metric::kLinkMost, 1.001 + 0.001 * launch, launch));
    result.samples.push_back(sample(metric::kEmulatedIdle, 0.4 - 0.1 * launch, launch));
    result.samples.push_back(sample(metric::kEmulatedBusy, 0.05 - 0.02 * launch, launch));
  }
  return result;
}

TEST(EmulationFacts, AreThoseOfTheWorstLaunch) {
  const auto facts = emulation_facts(emulated({0.1, 0.16}));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->dilation, 50);
  EXPECT_DOUBLE_EQ(facts->link_least.value(), 0.99);
  EXPECT_DOUBLE_EQ(facts->link_most.value(), 1.002);
  EXPECT_DOUBLE_EQ(facts->idle.value(), 0.3);
  EXPECT_DOUBLE_EQ(facts->replay_share, 0.4 / (50 * 0.1)) << "of rank 1 in the first launch, whose step was shorter";
  EXPECT_EQ(facts->in_words(),
            "dilated 50 times; links carried 99.0 to 100.2 % of their rate; processors were 30 % idle, replays took "
            "8.0 % of a "
            "core each; for 5 % of the time no processor had anything left");
}

TEST(EmulationFacts, AreNoneOfWhatWasNotEmulatedOnAProfilesLinks) {
  CaseResult result;
  result.samples = {sample("step_seconds", 1)};
  EXPECT_FALSE(emulation_facts(result));
}

TEST(EmulationFacts, NameEachPlantedFaultOnce) {
  CaseResult result = emulated({0.1, 0.1});
  for (const int launch : {0, 1}) {
    result.samples.push_back(sample(metric::kEmulatedFault, 0.5, launch, 0, "link:1"));
    result.samples.push_back(sample(metric::kEmulatedFault, 1.2, launch, 0, "node:0"));
  }
  EXPECT_THAT(emulation_facts(result)->faults, ElementsAre("link:1:0.5", "node:0:1.2"));
  const std::vector<Point> points = make_points({result});
  EXPECT_THAT(points.at(0).warnings, Contains("not a real figure: link:1:0.5, node:0:1.2 was planted "
                                              "(HBENCH_EMULATED_FAULT)"));
}

// 80 ms of 100 and of 160; medians of launches 100, 110, 160: 110.
TEST(EmulatedPoints, AreRelativeToOneGpuOfTheCluster) {
  const Point point = make_points({emulated({0.1, 0.11, 0.16})}).at(0);
  EXPECT_NEAR(*point.efficiency, 0.08 / 0.11, 1e-12);
  EXPECT_EQ(point.baseline, "one GPU without communication, 100 samples/s");
  EXPECT_EQ(point.interval, "95 % interval for a repeat, 3 launches");
  EXPECT_LT(*point.efficiency_low, *point.efficiency);
  EXPECT_GT(*point.efficiency_high, *point.efficiency);
  EXPECT_THAT(point.emulation, HasSubstr("dilated 50 times"));
  EXPECT_FALSE(make_points({emulated({0.1})}).at(0).efficiency_low) << "one launch has no interval";
}

Point simulated_point(const Point& like) {
  Point point = like;
  point.asked.evidence = Evidence::simulated;
  point.throughput = 2 * like.throughput;
  return point;
}

TEST(EmulatedPairs, AreTheSameQuestionOnTheSameCluster) {
  const Point own = make_points({emulated({0.1})}).at(0);
  const Point simulated = simulated_point(own);
  const auto pairs = compare_with_emulated({own, simulated});
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_DOUBLE_EQ(pairs[0].difference, 1);
  EXPECT_FALSE(pairs[0].published);
  EXPECT_FALSE(pairs[0].measured);
  const ComparisonSummary summary = summarize(pairs);
  EXPECT_EQ(summary.count, 1U);
  EXPECT_DOUBLE_EQ(summary.maximum, 1);
  const std::vector<std::function<void(Point&)>> changes{[](Point& p) { p.asked.profile = "another"; },
                                                         [](Point& p) { p.asked.gpus = 4; },
                                                         [](Point& p) { p.asked.batch_per_gpu = 9; },
                                                         [](Point& p) { p.asked.workload = "vgg16"; },
                                                         [](Point& p) { p.asked.strategy.algorithm = "ps"; },
                                                         [](Point& p) { p.asked.strategy.fusion = "none"; },
                                                         [](Point& p) { p.asked.evidence = Evidence::measured; },
                                                         [](Point& p) { p.failed = true; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Point other = simulated;
    changes[i](other);
    EXPECT_TRUE(compare_with_emulated({own, other}).empty()) << "change " << i;
  }
}

TEST(EmulatedPairs, HaveWhatWasPublishedAndMeasuredOfTheSame) {
  const Point own = make_points({emulated({0.1})}).at(0);
  Point published = simulated_point(own), measured = simulated_point(own);
  published.asked.evidence = Evidence::published;
  published.efficiency = 0.7;
  published.asked.strategy.preset = "horovod";
  measured.asked.evidence = Evidence::measured;
  measured.asked.profile = "local";
  measured.asked.image_size = 224;
  measured.efficiency = 0.6;
  const auto pairs = compare_with_emulated({published, measured, own, simulated_point(own)});
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].published->efficiency, 0.7);
  EXPECT_EQ(pairs[0].measured->efficiency, 0.6);
  measured.asked.batch_per_gpu = 16;
  EXPECT_FALSE(compare_with_emulated({measured, own, simulated_point(own)}).at(0).measured);
}

}  // namespace
}  // namespace hbench::emulation_test
