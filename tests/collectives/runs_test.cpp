#include "collectives/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include "tests/collectives/instances.hpp"

namespace hbench::runs_test {
namespace {

using namespace ::hbench::support;

TEST(Runs, GoOnWhileRanksAndChunksDo) {
  std::vector<TransferRun> runs;
  append(runs, {0, 3, 4, 7});
  append(runs, {0, 5, 5, 6});
  append(runs, {0, 7, 6, 5});
  append(runs, {0, 9, 8, 4});  // 7 would go on
  append(runs, {1, 0, 1, 0});
  append(runs, {1, 1, 2, 1, 2});
  append(runs, {1, 2, 3, 2, 2, TransferKind::reduce});
  ASSERT_EQ(runs.size(), 5U);
  EXPECT_EQ(runs[0], (TransferRun{.first = {0, 3, 4, 7}, .count = 3, .src_step = 2, .dst_step = 1, .chunk_step = -1}));
  EXPECT_EQ(runs[0].at(2), (Transfer{0, 7, 6, 5}));
  for (int i = 1; i < 5; ++i) EXPECT_EQ(runs[i].count, 1);
}

// What an algorithm says as runs is what it says as transfers, in the same order; no more runs than it declares.
TEST(Runs, OfEveryAlgorithmAreItsTransfers) {
  const auto check = [](const Instance& instance) {
    const RunSchedule runs = instance.algorithm->runs(instance.request());
    const Schedule written = to_transfers(runs);
    EXPECT_EQ(written.transfers, instance.schedule.transfers) << instance.name;
    EXPECT_EQ(written.offsets, instance.schedule.offsets) << instance.name;
    EXPECT_EQ(written.collective, instance.schedule.collective) << instance.name;
    EXPECT_EQ(std::pair(written.chunks, written.rounds), std::pair(instance.schedule.chunks, instance.schedule.rounds))
        << instance.name;
    EXPECT_EQ(transfers_of(runs), std::ssize(written.transfers)) << instance.name;
    EXPECT_EQ(to_transfers(to_runs(written)).transfers, written.transfers) << instance.name;
    const Shape shape = instance.algorithm->shape(instance.request());
    EXPECT_LE(std::ssize(runs.runs), shape.most_runs()) << instance.name;
    EXPECT_EQ(runs.parts, shape.parts) << instance.name;
  };
  for (const Algorithm* algorithm : algorithms())
    for (const int workers : {1, 2, 3, 7, 8, 12, 16})
      for (const Instance& instance : instances(*algorithm, workers)) check(instance);
}

TEST(Runs, AreFewWhereAllRanksDoTheSame) {
  const AlgorithmChoice hierarchy = parse_algorithm("hierarchical:direct:ring");
  const RunSchedule runs = hierarchy.runs({.workers = 512, .group = 8}, 1);
  EXPECT_EQ(transfers_of(runs), 64 * 2 * 56 + 8 * 2 * 64 * 63);
  EXPECT_LE(runs.runs.size(), 64U * 2 * 56 + 8 * 2 * 63 * 3);
}

}  // namespace
}  // namespace hbench::runs_test
