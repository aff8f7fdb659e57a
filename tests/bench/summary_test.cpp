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
