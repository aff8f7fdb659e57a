#include <gmock/gmock.h>

#include <functional>

#include "analysis/points/points.hpp"

namespace hbench::predictions_test {
namespace {

/// Two ranks on GPUs of this machine, as measured or as simulated on nodes like it.
Point point(Evidence evidence, double efficiency) {
  Point point;
  point.asked.evidence = evidence;
  point.asked.workload = "resnet50";
  point.asked.gpus = 2;
  point.asked.batch_per_gpu = 64;
  point.asked.image_size = 224;
  point.asked.strategy = {.algorithm = "ring", .compressor = "none", .fusion = "horovod:128MiB:1ms"};
  point.asked.profile = evidence == Evidence::measured ? "local" : "this-machine-hkbu-10gbe";
  point.asked.training = {
      .device = "gpu", .executor = evidence == Evidence::measured ? "nccl" : "", .precision = "tf32"};
  point.efficiency = efficiency;
  return point;
}

TEST(Prediction, IsSimulatedMinusMeasuredWhateverMovedTheBytes) {
  const auto pairs = compare_with_measured({point(Evidence::measured, 0.75), point(Evidence::simulated, 0.5)});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].difference, -0.25);
  EXPECT_EQ(pairs[0].simulated.asked.evidence, Evidence::simulated);
  EXPECT_EQ(pairs[0].measured.asked.evidence, Evidence::measured);
}

TEST(Prediction, IsOneForEachMeasuredPoint) {
  // The same nodes on another network predict the same inside a node.
  Point elsewhere = point(Evidence::simulated, 0.5);
  elsewhere.asked.profile = "this-machine-azure-nd96asr-v4";
  Point other = point(Evidence::measured, 0.25);
  other.asked.training.executor = "cuda";
  const auto pairs =
      compare_with_measured({point(Evidence::measured, 0.75), point(Evidence::simulated, 0.5), elsewhere, other});
  ASSERT_EQ(pairs.size(), 2u);
  const ComparisonSummary error = summarize(pairs);  // |0.5 - 0.75| and |0.5 - 0.25|
  EXPECT_EQ(error.count, 2u);
  EXPECT_EQ(error.mean, 0.25);
  EXPECT_EQ(error.maximum, 0.25);
}

TEST(Prediction, WantsTheSameWork) {
  const std::vector<std::function<void(Point&)>> changes{[](Point& p) { p.asked.workload = "vgg16"; },
                                                         [](Point& p) { p.asked.gpus = 4; },
                                                         [](Point& p) { p.asked.batch_per_gpu = 32; },
                                                         [](Point& p) { p.asked.image_size = 0; },
                                                         [](Point& p) { p.asked.training.device = ""; },
                                                         [](Point& p) { p.asked.training.precision = "bf16"; },
                                                         [](Point& p) { p.asked.strategy.algorithm = "ps"; },
                                                         [](Point& p) { p.asked.strategy.compressor = "fp16"; },
                                                         [](Point& p) { p.asked.strategy.overlap = false; },
                                                         [](Point& p) { p.asked.evidence = Evidence::published; },
                                                         [](Point& p) { p.failed = true; },
                                                         [](Point& p) { p.efficiency.reset(); }};
  for (const Evidence changed : {Evidence::measured, Evidence::simulated})
    for (std::size_t i = 0; i < changes.size(); ++i) {
      std::vector<Point> points{point(Evidence::measured, 0.75), point(Evidence::simulated, 0.5)};
      changes[i](points[changed == Evidence::measured ? 0 : 1]);
      EXPECT_TRUE(compare_with_measured(points).empty()) << "change " << i;
    }
}

TEST(Prediction, OfRanksOnSeveralNodesIsForAsMany) {
  std::vector<Point> points{point(Evidence::measured, 0.75), point(Evidence::simulated, 0.5)};
  points[0].asked.nodes = 2;
  points[1].asked.nodes = 1;
  EXPECT_TRUE(compare_with_measured(points).empty());
  points[1].asked.nodes = 2;
  EXPECT_EQ(compare_with_measured(points).size(), 1u);
}

TEST(Prediction, IsNoneOfWhatCalibratedItOrHasOtherMachines) {
  const std::vector<std::function<void(Point&)>> changes{
      [](Point& p) { p.asked.strategy.algorithm = "none"; }, [](Point& p) { p.asked.gpus = 1; },
      [](Point& p) { p.asked.strategy.server_mode = "dedicated"; }, [](Point& p) { p.asked.image_size = 0; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    std::vector<Point> points{point(Evidence::measured, 0.75), point(Evidence::simulated, 0.5)};
    for (Point& each : points) changes[i](each);
    EXPECT_TRUE(compare_with_measured(points).empty()) << "change " << i;
  }
}

}  // namespace
}  // namespace hbench::predictions_test
