#include "bench/output/reporting.hpp"

#include "tests/support/matchers.hpp"

namespace hbench::summary_test {
namespace {

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
  EXPECT_THAT(titles_of(table),
              ElementsAre("workload", "ranks", "strategy", "samples/s", "per rank", "efficiency [95 %]", "baseline"));
  EXPECT_THAT(table.rows.at(1), ElementsAre("resnet18", "1", "ring", "50.0", "50.0", "-", "itself"));
}

TEST(Summary, SaysWhatEachRankWasWhereTheyDiffered) {
  const Table table = table_of({measured({.device = "gpu", .executor = "nccl", .precision = "bf16"}), measured({})});
  EXPECT_EQ(table.caption, "Measured on this machine (a rank is what `on` says)");
  EXPECT_THAT(table.rows.at(0), ElementsAre("resnet18", "1", "ring", "GPU: nccl, bf16", "50.0", "50.0", "-", "itself"));
  EXPECT_EQ(table.rows.at(1).at(3), "CPU core");
}

Point simulated(const char* workload, const char* network, const char* algorithm, double efficiency) {
  Point point;
  point.asked.workload = workload;
  point.asked.gpus = 8;
  point.asked.profile = network;
  point.asked.strategy.algorithm = algorithm;
  if (point.asked.strategy.uses_servers()) {
    point.asked.strategy.placement = "sliced";
    point.asked.strategy.server_mode = "colocated";
  }
  point.efficiency = efficiency;
  return point;
}

std::vector<Point> small_sweep() {
  std::vector<Point> points{simulated("vgg16", "slow", "ring", 0.4),    simulated("vgg16", "slow", "ps", 0.6),
                            simulated("vgg16", "fast", "ring", 0.9),    simulated("vgg16", "fast", "ps", 0.5),
                            simulated("resnet50", "fast", "ring", 0.8), simulated("resnet50", "fast", "ps", 0.78),
                            simulated("vgg16", "fast", "tree", 0.3)};
  for (Point& point : points) point.asked.batch_per_gpu = 32;
  points[2].efficiency_low = 0.81;
  points[2].efficiency_high = 0.99;
  Point fewer = simulated("vgg16", "fast", "ring", 0.99);
  fewer.asked.gpus = 4;
  points.push_back(fewer);
  return points;
}

TEST(Summary, HasAMatrixOfWorkloadsAndNetworksAtTheMostGpusOfEach) {
  const Document document = summary(small_sweep(), {});
  ASSERT_EQ(document.blocks.size(), 1);
  const Table table = std::get<Table>(document.blocks[0]);
  EXPECT_EQ(table.caption, "8 GPUs, simulated: % of ideal speed (90 % band); times as fast, ?: likely");
  EXPECT_THAT(titles_of(table),
              ElementsAre("workload", "network", "ring", "ps (sliced, colocated)", "tree", "best servers", "ahead"));
  EXPECT_THAT(table.rows,
              ElementsAre(ElementsAre("vgg16, batch 32", "fast", "90 (81-99)", "50", "30", "50", "ring 1.8 (1.6-2.1)"),
                          ElementsAre("vgg16, batch 32", "slow", "40", "60", "-", "60", "ps 1.5 (1.3-1.7)"),
                          ElementsAre("resnet50, batch 32", "fast", "80", "78", "-", "78", "level (0.89-1.18)")));
}

TEST(Summary, SaysHowManyGpusWhereWorkloadsDiffer) {
  std::vector<Point> points = small_sweep();
  for (Point& point : points)
    if (point.asked.workload == "resnet50") point.asked.gpus = 16;
  const Table table = std::get<Table>(summary(points, {}).blocks.at(0));
  EXPECT_EQ(table.caption, "simulated: % of ideal speed (90 % band); times as fast, ?: likely");
  EXPECT_EQ(table.columns.at(2).title, "GPUs");
  EXPECT_EQ(table.rows.at(0).at(2), "16");
  EXPECT_EQ(table.rows.at(1).at(2), "8");
}

TEST(Summary, ShowsWhatIsComparedFirstWhereThereIsLittleRoom) {
  const Table table = std::get<Table>(summary(small_sweep(), {}).blocks[0]);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& name = table.columns[i].title;
    const bool compared =
        name == "workload" || name == "network" || name == "ring" || name == "best servers" || name == "ahead";
    EXPECT_EQ(table.columns[i].priority == 0, compared) << name;
  }
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
}  // namespace hbench::summary_test
