#include "bench/output/reporting.hpp"

#include <gmock/gmock.h>

namespace hbench {
namespace {

using testing::ElementsAre;

Point measured(TrainingTask task) {
  Point point;
  point.asked.evidence = Evidence::measured;
  point.asked.workload = "resnet18";
  point.asked.strategy.algorithm = "ring";
  point.asked.training = std::move(task);
  point.throughput = point.throughput_per_gpu = 50;
  point.baseline = "itself";
  return point;
}

Table table_of(const std::vector<Point>& points) { return std::get<Table>(summary(points, {}).blocks.at(0)); }

TEST(Summary, SaysOnceWhatARankWasWhereAllWereAlike) {
  const Table table = table_of({measured({}), measured({})});
  EXPECT_EQ(table.caption, "Measured on this machine (a rank is one CPU core)");
  EXPECT_THAT(table.columns,
              ElementsAre("workload", "ranks", "strategy", "samples/s", "per rank", "efficiency [95 %]", "baseline"));
  EXPECT_EQ(table.numeric.size(), table.columns.size());
  EXPECT_THAT(table.rows.at(1), ElementsAre("resnet18", "1", "ring", "50.0", "50.0", "-", "itself"));
}

TEST(Summary, SaysWhatEachRankWasWhereTheyDiffered) {
  const Table table = table_of({measured({.device = "gpu", .executor = "nccl", .precision = "bf16"}), measured({})});
  EXPECT_EQ(table.caption, "Measured on this machine (a rank is what `on` says)");
  EXPECT_THAT(table.rows.at(0), ElementsAre("resnet18", "1", "ring", "GPU: nccl, bf16", "50.0", "50.0", "-", "itself"));
  EXPECT_EQ(table.rows.at(1).at(3), "CPU core");
}

Point simulated(const char* workload, int gpus, const char* algorithm, double efficiency) {
  Point point;
  point.asked.workload = workload;
  point.asked.gpus = gpus;
  point.asked.profile = "a network";
  point.asked.strategy.algorithm = algorithm;
  point.efficiency = efficiency;
  return point;
}

// A strategy that only one of three networks' workloads has is left out: it is the twin of a published point.
TEST(Summary, HasAColumnForEachSimulatedStrategyAtTheMostGpus) {
  const Table table = table_of({simulated("vgg16", 4, "ring", 0.9), simulated("vgg16", 8, "ring", 0.8),
                                simulated("vgg16", 8, "tree", 0.7), simulated("resnet50", 8, "ring", 0.6),
                                simulated("resnet50", 8, "tree", 0.5), simulated("bert", 8, "ring", 0.4),
                                simulated("bert", 8, "direct", 0.3)});
  EXPECT_THAT(table.caption, testing::HasSubstr("on 8 GPUs"));
  EXPECT_THAT(table.columns, ElementsAre("workload", "network", "ring", "tree"));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("bert", "a network", "40.0 %", "-"),
                                      ElementsAre("resnet50", "a network", "60.0 %", "50.0 %"),
                                      ElementsAre("vgg16", "a network", "80.0 %", "70.0 %")));
}

TEST(Summary, KeepsWhatIsEmulatedApartAndNamesItsNetwork) {
  Point emulated = measured({});
  emulated.asked.evidence = Evidence::emulated;
  emulated.asked.profile = "3 hosts, 200mbit each way";
  const Table table = table_of({emulated});
  EXPECT_EQ(table.caption, "Emulated on this machine: 3 hosts, 200mbit each way (a rank is one CPU core)");
  EXPECT_EQ(table.rows.size(), 1U);
}

}  // namespace
}  // namespace hbench
