#include "analysis/points/collectives.hpp"

#include <gtest/gtest.h>

#include "analysis/store/store.hpp"
#include "example_results.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::collectives_test {
namespace {

CaseResult example_collective() {
  CaseResult result;
  result.asked.evidence = Evidence::measured;
  result.asked.gpus = 2;
  result.asked.strategy.algorithm = "ring";
  result.asked.collective = {.name = "all-reduce",
                             .bytes = 4000,
                             .data_type = "float32",
                             .operation = "sum",
                             .executor = "mpi",
                             .ranks_per_node = 4,
                             .segments = 3};
  return result;
}

Sample time_of(std::string_view metric, int rank, int iteration, double value, bool warmup = false) {
  return {.rank = rank,
          .iteration = iteration,
          .warmup = warmup,
          .metric = std::string(metric),
          .value = value,
          .unit = "s"};
}

TEST(CollectiveFigures, TakeTheSlowestRankAndTheMedianIteration) {
  CaseResult result = example_collective();
  for (const auto& [iteration, first, second] : {std::tuple{0, 9.0, 9.0}, {1, 1.0, 2.0}, {2, 4.0, 1.0}, {3, 3.0, 3.0}})
    for (const auto& [rank, value] : {std::pair{0, first}, {1, second}})
      result.samples.push_back(time_of(metric::kInPlace, rank, iteration, value, iteration == 0));
  const CollectiveFigures figures = collective_figures(result);
  EXPECT_EQ(figures.in_place.seconds, 3.0) << "of 2, 4 and 3: iteration 0 was warm-up";
  EXPECT_FALSE(figures.in_place.wrong.has_value());
  EXPECT_FALSE(figures.out_of_place.seconds.has_value());
}

TEST(CollectiveFigures, GiveNoTimeForWrongData) {
  CaseResult result = example_collective();
  result.samples = {time_of(metric::kInPlace, 0, 0, 1), time_of(metric::kInPlaceWrong, 0, 0, 0),
                    time_of(metric::kInPlaceWrong, 0, 0, 7)};
  const CollectiveFigures figures = collective_figures(result);
  EXPECT_EQ(figures.in_place.wrong, 7);
  EXPECT_FALSE(figures.in_place.seconds.has_value());
}

TEST(CollectiveFigures, SayBelowWhichLinkSpeedCompressingPays) {
  CaseResult result = example_collective();
  result.samples = {figure("wire_bytes", 2000),     figure("plain_wire_bytes", 4000), figure("encode_seconds", 2e-6),
                    figure("decode_seconds", 6e-6), figure("relative_l2_error", 0.1), figure("cosine", 0.99)};
  const CollectiveFigures figures = collective_figures(result);
  EXPECT_DOUBLE_EQ(*figures.bits_per_element, 16);
  EXPECT_DOUBLE_EQ(*figures.break_even, 2000 / 8e-6) << "2000 B saved in 8 us of coding";
  result.samples[0] = figure("wire_bytes", 3999);
  EXPECT_DOUBLE_EQ(*collective_figures(result).break_even, 1 / 8e-6) << "one byte is something";
  EXPECT_EQ(figures.relative_error, 0.1);
  EXPECT_EQ(figures.cosine, 0.99);
}

TEST(CollectiveFigures, NameNoLinkSpeedWhereNothingIsSavedOrCodingTakesNoTime) {
  CaseResult result = example_collective();
  result.samples = {figure("wire_bytes", 4000), figure("plain_wire_bytes", 4000), figure("encode_seconds", 2e-6),
                    figure("decode_seconds", 6e-6)};
  EXPECT_FALSE(collective_figures(result).break_even.has_value()) << "nothing is saved";
  result.samples = {figure("wire_bytes", 2000), figure("plain_wire_bytes", 4000), figure("encode_seconds", 0),
                    figure("decode_seconds", 0)};
  EXPECT_FALSE(collective_figures(result).break_even.has_value()) << "coding took no time";
}

TEST(BusFactor, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor("all-reduce", 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor("reduce-scatter", 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("all-gather", 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("broadcast", 4), 1);
  EXPECT_DOUBLE_EQ(bus_factor("all-reduce", 1), 0);
}

TEST(ACollective, IsToldApartByEveryFieldOfItsTask) {
  const Case base = example_collective().asked;
  const std::string training = Case{.gpus = 2}.key();
  EXPECT_EQ(training.find("collective="), std::string::npos) << "what does not apply is left out";
  for (auto change :
       {+[](CollectiveTask& task) { task.name = "broadcast"; }, +[](CollectiveTask& task) { task.bytes = 8; },
        +[](CollectiveTask& task) { task.data_type = "int32"; }, +[](CollectiveTask& task) { task.operation = "max"; },
        +[](CollectiveTask& task) { task.executor = "shm"; }, +[](CollectiveTask& task) { task.ranks_per_node = 2; },
        +[](CollectiveTask& task) { task.segments = 9; }}) {
    Case other = base;
    change(other.collective);
    EXPECT_NE(other.key(), base.key());
  }
}

TEST(StoreOfCollectives, GivesBackWhatWasAppended) {
  const TemporaryFolder folder;
  CaseResult result = example_collective();
  result.samples = {time_of(metric::kInPlace, 1, 2, 0.5)};
  Store store(folder / "results.db");
  const std::int64_t run = store.begin_run(
      {.command = "hbench collective", .version = "1", .started_at = "2026-01-01T00:00:00Z", .environment = {}});
  store.append(run, {result, example_result(1, 2)});
  const std::vector<CaseResult> read = store.results();
  EXPECT_EQ(texts_of(read), texts_of({result, example_result(1, 2)}));
  EXPECT_EQ(read.at(0).asked.collective, result.asked.collective);
  EXPECT_FALSE(read.at(1).asked.is_collective());
}

// 4 ranks; reading all buffers takes 8, writing them back 4 more. An all-reduce does both; a reduce-scatter writes a
// quarter; an all-gather and a broadcast read a quarter and write three.
TEST(MemoryBound, CountsTheBytesThatTheCollectiveMustMove) {
  EXPECT_DOUBLE_EQ(memory_bound("all-reduce", 4, 8, 12), 12);
  EXPECT_DOUBLE_EQ(memory_bound("reduce-scatter", 4, 8, 12), 9);
  EXPECT_DOUBLE_EQ(memory_bound("all-gather", 4, 8, 12), 5);
  EXPECT_DOUBLE_EQ(memory_bound("broadcast", 4, 8, 12), 5);
}

TEST(MemoryBound, IsOfTheFastestPass) {
  CaseResult result;
  result.asked.gpus = 2;
  result.asked.collective = {.name = "all-reduce", .bytes = 8, .data_type = "float32"};
  const auto add = [&](std::string_view name, std::vector<double> values) {
    for (int i = 0; i < std::ssize(values); ++i)
      result.samples.push_back({.iteration = i, .metric = std::string(name), .value = values[i], .unit = "s"});
  };
  add(metric::kBound, {5, 4, 6});
  EXPECT_EQ(collective_figures(result).bound_seconds, 4) << "of an older database";
  result.asked.collective.name = "reduce-scatter";
  EXPECT_EQ(collective_figures(result).bound_seconds, std::nullopt) << "it does not know how long reading takes";
  add(metric::kBoundRead, {3, 2, 3});
  EXPECT_EQ(collective_figures(result).bound_seconds, 3);
}

}  // namespace
}  // namespace hbench::collectives_test
