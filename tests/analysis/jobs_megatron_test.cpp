#include <fmt/format.h>

#include "tests/analysis/jobs_files.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::jobs_megatron_test {
namespace {

constexpr std::string_view kSettings =
    "using world size: 8, data-parallel size: 4, context-parallel size: 1, tensor-model-parallel size: 2, "
    "encoder-pipeline-model-parallel size: 0, pipeline-model-parallel size: 1\n"
    "using torch.bfloat16 for parameters ...\n";

std::string buckets(bool overlapped, int count) {
  std::string text = fmt::format(
      "INFO:megatron.core:config DistributedDataParallelConfig(grad_reduce_in_fp32=True, overlap_grad_reduce={}, "
      "overlap_param_gather=False, use_distributed_optimizer=False)\n",
      overlapped ? "True" : "False");
  for (int i = 1; i <= count; ++i)
    text += fmt::format("Params for bucket {} ({} elements, 128 padded size):\n\tmodule.bias\n", i, 1000 * i);
  return text;
}

/// An iteration with its timers, each line after `prefix`.
std::string iteration(const std::string& prefix, int number, double step, bool of_all_ranks = true) {
  std::string text = fmt::format(
      "{} [2025-04-13 23:41:12] iteration {:8}/    1000 | consumed samples:          160 | elapsed time per iteration "
      "(ms): "
      "{:.1f} | throughput per GPU (TFLOP/s/GPU): 243.6 | learning rate: 0.0E+00 | global batch size:    16 |\n",
      prefix, number, step);
  const auto timer = [&](std::string name, double least, double most) {
    name += " ";
    text += of_all_ranks ? fmt::format("{}    {:.<48}: ({:.2f}, {:.2f})\n", prefix, name, least, most)
                         : fmt::format("{}    {:.<48}: {:.2f}\n", prefix, name, most);
  };
  text += fmt::format("{}{} time across ranks (ms):\n", prefix, of_all_ranks ? "(min, max)" : "max");
  timer("forward-backward", 900, 902);
  timer("forward-compute", 280.1, 300.5);
  timer("backward-compute", 500.1, 600.25);
  timer("all-grads-sync", 40.5, 90);
  timer("params-all-gather", 20.25, 30);
  timer("optimizer", 30, 31);
  return text;
}

TEST(MegatronLogs, HaveTheTimesOfTheSlowestRank) {
  for (const std::string prefix : {"", "7:", "[default3]:", "2025-04-13T23:41:12 node3 INFO -"}) {
    const Recording recording =
        recording_of(std::string(kSettings) + iteration(prefix, 10, 1100) + iteration(prefix, 20, 1000));
    EXPECT_EQ(recording.format, "megatron");
    ASSERT_THAT(recording.steps, SizeIs(2)) << prefix;
    const RecordedStep& step = recording.steps.front();
    EXPECT_EQ(step.name, "iteration 10");
    EXPECT_THAT(step.time.value, DoubleNear(1.1, 1e-9));
    EXPECT_THAT(step.backward_began->value, DoubleNear(0.3005, 1e-9));
    EXPECT_THAT(step.backward_ended->value, DoubleNear(0.90075, 1e-9));
    EXPECT_THAT(step.exposed.value, DoubleNear(0.06075, 1e-9));
    EXPECT_EQ(recording.world, 8);
    EXPECT_EQ(recording.batch, 4);
  }
}

TEST(MegatronLogs, HaveTimersOfOneValue) {
  const RecordedStep step = recording_of(iteration("", 10, 1100, false)).steps.at(0);
  EXPECT_THAT(step.backward_began->value, DoubleNear(0.3005, 1e-9));
  EXPECT_THAT(step.exposed.value, DoubleNear(0.12, 1e-9));
}

TEST(MegatronLogs, OfOlderVersionsHaveTheirTimersInOneLine) {
  const RecordedStep step =
      recording_of(
          " iteration       30/ 1000000 | consumed samples:          120 | elapsed time per iteration (ms): 123.4 | "
          "global batch size:     4 |\n"
          "time (ms) | forward-compute: 31.57 | backward-compute: 41.76 | backward-params-all-reduce: 21.15 | "
          "backward-reduce-model-grads: 21.24 | backward-gather-model-params: 0.01 | optimizer: 57.50 |\n")
          .steps.at(0);
  EXPECT_THAT(step.time.value, DoubleNear(0.1234, 1e-9));
  EXPECT_THAT(step.backward_ended->value, DoubleNear(0.07333, 1e-9));
  EXPECT_THAT(step.exposed.value, DoubleNear(0.02125, 1e-9));
  EXPECT_THAT(step.collectives, SizeIs(1));
}

TEST(MegatronLogs, OfGptNeoxNameTheirPassesOtherwiseAndHaveARateInPlaceOfABatch) {
  const Recording recording = recording_of(
      " samples/sec: 90.1 | iteration       10/  320000 | elapsed time per iteration (ms): 11365.9 | loss scale: 1.0 "
      "|\n"
      "time (ms) | forward: 3211.22 | backward: 7700.21 | backward-backward: 7690.11 | backward-allreduce: 0.00 | "
      "optimizer: 301.22 | batch generator: 5.21\n");
  EXPECT_THAT(recording.steps.at(0).backward_began->value, DoubleNear(3.21122, 1e-9));
  EXPECT_THAT(recording.steps.at(0).backward_ended->value, DoubleNear(10.91143, 1e-9));
  EXPECT_EQ(recording.global_batch, 1024);
}

TEST(MegatronLogs, OfOverlappedJobsHaveTheirWaitAndTheRanksThatShareGradients) {
  const TrainingJob job =
      make_job({recording_of(std::string(kSettings) + iteration("", 10, 1100) + iteration("", 20, 1000))}, {});
  EXPECT_EQ(job.ranks, 4) << "of 8, two of which divide a model";
  EXPECT_GT(job.exposed.value, 0);
  EXPECT_THAT(job.unknown, Not(Contains(HasSubstr("no exchange of gradients is in the file"))));
}

TEST(MegatronLogs, OfThoseBefore2023HaveOneAllReduceAfterTheBackwardPass) {
  const Recording recording = recording_of(
      "using world size: 16, data-parallel-size: 8, tensor-model-parallel size: 2, pipeline-model-parallel size: 1\n"
      " iteration 10/ 500 | elapsed time per iteration (ms): 812.3 | global batch size: 1024 | lm loss: 9.2E+00 |\n"
      "time (ms) | forward-compute: 250.00 | backward-compute: 450.00 | backward-params-all-reduce: 80.00 | "
      "backward-embedding-all-reduce: 0.02 | optimizer: 10.1\n");
  EXPECT_EQ(recording.batch, 128);
  ASSERT_THAT(recording.steps, SizeIs(1));
  EXPECT_NEAR(recording.steps[0].exposed.value, 0.08, 1e-9);
  ASSERT_THAT(recording.steps[0].collectives, SizeIs(1));
  EXPECT_EQ(recording.steps[0].collectives[0].ranks, 8);
  EXPECT_EQ(recording.steps[0].collectives[0].elements, 0) << "not in the log";
}

TEST(MegatronLogs, ShowTheOneExchangeOfAJobThatDoesNotOverlap) {
  const Recording recording = recording_of(std::string(kSettings) + buckets(false, 1) + iteration("", 10, 1100));
  ASSERT_THAT(recording.steps.at(0).collectives, SizeIs(1));
  const RecordedCollective& exchange = recording.steps.at(0).collectives.front();
  EXPECT_EQ(exchange.operation, "all-reduce");
  EXPECT_EQ(exchange.elements, 1000);
  EXPECT_EQ(exchange.type, "float32");
  EXPECT_EQ(exchange.ranks, 4);
  EXPECT_EQ(exchange.launched, recording.steps.at(0).backward_ended);
  EXPECT_THAT(recording.unknown, IsEmpty());
}

TEST(MegatronLogs, DoNotSayWhenOverlappedBucketsAreReady) {
  const Recording recording = recording_of(std::string(kSettings) + buckets(true, 2) + iteration("", 10, 1100));
  EXPECT_THAT(recording.steps.at(0).collectives, IsEmpty());
  EXPECT_THAT(recording.unknown, ElementsAre(HasSubstr("its 2 buckets of 1000, 2000 elements")));
}

TEST(MegatronLogs, MayBeInSeconds) {
  const std::string line =
      "[default7]: iteration {} | elapsed time per iteration ({}): {} | global batch size: 2048 |\n";
  const Recording recording = recording_of(fmt::format(fmt::runtime(line), 12695, "s", "105.22") +
                                           fmt::format(fmt::runtime(line), 12696, "s", "104.5"));
  ASSERT_THAT(recording.steps, SizeIs(2));
  EXPECT_THAT(recording.steps[0].time.value, DoubleNear(105.22, 1e-9));
  EXPECT_EQ(recording.steps[1].name, "iteration 12696");
  for (const auto& [unit, number] : {std::pair("ms", "2,110.5"), std::pair("min", "2.5"), std::pair("ms", "-")})
    expect_error([&] { recording_of(fmt::format(fmt::runtime(line), 1, unit, number)); }, ExitCode::usage,
                 HasSubstr("with a number"),
                 "give the log of the rank that prints it (the last one), with --log-interval 1");
}

TEST(MegatronLogs, WithoutTimersNameTheFlag) {
  const Recording recording = recording_of(" iteration 5/ 10 | elapsed time per iteration (ms): 12.5 | lm loss: 1 |\n");
  EXPECT_FALSE(recording.steps.at(0).backward_began);
  EXPECT_THAT(recording.no_backward, HasSubstr("--timing-log-level 2"));
}

TEST(MegatronLogs, WithoutIterationsAreRefused) {
  expect_error([] { recording_of(std::string(kSettings) + "Killed\n"); }, ExitCode::usage,
               HasSubstr("'elapsed time per iteration (ms): ..'"),
               "give the log of the rank that prints it (the last one), with --log-interval 1");
}

TEST(MegatronLogs, SurviveDamage) {
  const std::string text = std::string(kSettings) + buckets(false, 1) + iteration("", 10, 1100);
  survive_damage(text, "megatron", 400);
  const Recording recording = recording_of(text + " iteration 30/ 40 | elapsed time per iteration (ms): nan |\n");
  EXPECT_THAT(recording.steps, SizeIs(1));
}

}  // namespace
}  // namespace hbench::jobs_megatron_test
