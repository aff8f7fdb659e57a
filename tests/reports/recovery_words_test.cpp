/// The first line of `hbench recover`, its picture and its table.

#include <algorithm>
#include <string>

#include "analysis/recover/recovery.hpp"
#include "reports/recover/recovery.hpp"
#include "tests/support/learning_case.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::recovery_words_test {
namespace {

RecoveryRun run_of(std::optional<OnFailure> policy, double step, std::string digest) {
  RecoveryRun run{
      .policy = policy, .seen = {}, .losses = {}, .checkpoints = {}, .digest = std::move(digest), .failure = ""};
  for (int i = 1; i <= 20; ++i) run.seen.push_back({.at = 0.1 * i, .steps = i, .seconds = step});
  return run;
}

/// A rank is lost after step 20 of 40, and the last checkpoint is of step 15.
RecoveryRun lost(OnFailure policy, int ranks, double step_after, std::string digest) {
  RecoveryRun run = run_of(policy, 0.1, std::move(digest));
  run.losses.push_back(
      {.reason = "rank 1 was ended by signal 9", .at = 2, .done = 20, .resumed = 15, .ranks = ranks, .seconds = 3.0});
  for (int i = 16; i <= 40; ++i)
    run.seen.push_back({.at = 5 + step_after * (i - 16), .steps = i, .seconds = i == 16 ? 1 : step_after});
  run.checkpoints = {{.bytes = 1e6, .stall = 0.001, .writing = 0.1}, {.bytes = 1e6, .stall = 0.003, .writing = 0.1}};
  return run;
}

Recovery example() {
  Case asked = learning_case("none", 3);
  asked.gpus = 2;
  asked.nodes = 1;
  return {.asked = asked,
          .every = 5,
          .faults = {{.rank = 1, .from = 20, .until = 20}},
          .runs = {run_of(std::nullopt, 0.1, "a"), lost(OnFailure::restart, 2, 0.1, "a"),
                   lost(OnFailure::shrink, 1, 0.1, "b")}};
}

std::string verdict_of(const Recovery& recovery) {
  return std::get<Verdict>(recovery_document(recovery).blocks.front()).text;
}

TEST(RecoveryWords, SayWhatALostRankCosts) {
  EXPECT_THAT(
      verdict_of(example()),
      AllOf(HasSubstr("a checkpoint each 5 steps: a lost rank costs 3 s and 5 steps by restart, to the same bits; "),
            HasSubstr("3 s and 5 steps by shrink, then 50 % of the speed")));
  Recovery wrong = example();
  wrong.runs[1].digest = "c";
  EXPECT_THAT(verdict_of(wrong), HasSubstr("by restart, to other parameters than undisturbed"));
  wrong.repeatable = false;
  EXPECT_THAT(verdict_of(wrong), HasSubstr("5 steps by restart, then 100 % of the speed"));
  Recovery none = example();
  none.runs.resize(1);
  EXPECT_THAT(verdict_of(none), HasSubstr("no rank was lost."));
}

TEST(RecoveryWords, OfAJobThatEndedSayWhy) {
  Recovery recovery = example();
  recovery.runs.resize(2);
  recovery.runs[1].policy = OnFailure::stop;
  recovery.runs[1].losses[0] = {.reason = "rank 1 was ended by signal 9", .at = 2, .done = 20};
  recovery.runs[1].failure = "rank 1 was ended by signal 9";
  const Document document = recovery_document(recovery);
  EXPECT_THAT(verdict_of(recovery), HasSubstr("a lost rank costs all of it by stop"));
  EXPECT_THAT(std::get<Warnings>(document.blocks[1]).texts, ElementsAre("stop: rank 1 was ended by signal 9"));
}

TEST(RecoveryWords, DrawTheStepsOverTime) {
  const Document document = recovery_document(example());
  const Chart& chart = std::get<Chart>(document.blocks[1]);
  ASSERT_EQ(chart.series.size(), 3);
  const std::vector<ChartPoint>& points = chart.series[1].points;
  EXPECT_EQ(points.front().y, 0);
  EXPECT_EQ(points.back().y, 40);
  EXPECT_LE(points.size(), 45);
  const auto before = std::ranges::find(points, 20, &ChartPoint::y);
  ASSERT_NE(before, points.end()) << "the last step before the loss";
  EXPECT_EQ((before + 1)->y, 16) << "and the first after it";
  const Table& table = std::get<Table>(document.blocks[2]);
  EXPECT_EQ(table.rows.size(), 3);
  EXPECT_THAT(std::get<Paragraph>(document.blocks[3]).text, HasSubstr("--checkpoint-time 0.002s --restart-time 3s"));
}

TEST(Recovery, CountsWhatIsLost) {
  const Recovery recovery = example();
  EXPECT_EQ(recovery.runs[1].steps_lost(), 5);
  EXPECT_EQ(recovery.runs[1].seconds_lost(), 3);
  EXPECT_EQ(recovery.runs[1].step_after(), 0.1) << "without the step in which ranks begin";
  EXPECT_EQ(recovery.same_bits(recovery.runs[0]), std::nullopt);
  EXPECT_EQ(recovery.same_bits(recovery.runs[1]), true);
  EXPECT_EQ(recovery.same_bits(recovery.runs[2]), std::nullopt) << "fewer ranks add up other numbers";
  EXPECT_DOUBLE_EQ(*recovery.speed_after(recovery.runs[2]), 0.5);
  TrainingStrategy strategy;
  for (const auto& [fusion, compressor, workers, repeats] :
       {std::tuple("byteps", "ef:topk:0.1", 4, true), std::tuple("horovod", "none", 2, true),
        std::tuple("horovod", "none", 3, false), std::tuple("ddp", "topk:0.1", 2, false)}) {
    strategy.fusion = parse_fusion(fusion);
    strategy.compressor = parse_compressor(compressor);
    EXPECT_EQ(repeats_bits(strategy, workers), repeats) << fusion;
  }
  EXPECT_EQ(refuse_faults(recovery.faults, 2, 21), "");
  EXPECT_THAT(refuse_faults(recovery.faults, 1, 21), HasSubstr("ranks 0 to 0"));
  EXPECT_THAT(refuse_faults(recovery.faults, 2, 20), HasSubstr("steps 0 to 19"));
}

}  // namespace
}  // namespace hbench::recovery_words_test
