#include <fmt/format.h>

#include <cstring>

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

/// One iteration in a line.
std::string line_of(int number, double step, int batch = 1024) {
  return fmt::format(
      " iteration {:8}/  250000 | elapsed time per iteration (ms): {:.1f} | global batch size: {:5} | lm loss: 2.37 "
      "|\n",
      number, step, batch);
}

std::vector<std::string> names_of(const Recording& recording) {
  std::vector<std::string> names;
  for (const RecordedStep& step : recording.steps) names.push_back(step.name);
  return names;
}

TEST(MegatronLogs, DoNotCountALineThatTheEndOfTheFileCutsOff) {
  const std::string lines = line_of(1, 139113.4) + line_of(2, 139221.4), last = line_of(3, 141394.7);
  for (const char* words : {"(ms): 14", "size:  10"}) {
    const Recording recording = recording_of(lines + last.substr(0, last.find(words) + std::strlen(words)));
    EXPECT_THAT(names_of(recording), ElementsAre("iteration 1", "iteration 2")) << words;
    EXPECT_EQ(recording.global_batch, 1024);
    EXPECT_THAT(recording.unknown, Contains("The file ends within its last line, which is left out."));
  }
  const std::string timers = iteration("", 10, 1100);
  const std::string cut = iteration("", 20, 1000);
  const Recording within = recording_of(timers + cut.substr(0, cut.find("(500.10, 6") + 10));
  EXPECT_FALSE(within.steps.at(1).backward_ended) << "its time was cut off";
  const Recording whole = recording_of(lines + last.substr(0, last.size() - 1));
  EXPECT_THAT(whole.steps, SizeIs(3)) << "only the end of its line is missing";
  EXPECT_THAT(whole.unknown, Not(Contains(HasSubstr("left out"))));
}

TEST(MegatronLogs, OfSeveralRunsHaveTheLastOne) {
  const std::string first = " world_size ............ 8\n" + line_of(1, 5000) + line_of(2, 800) + line_of(3, 801);
  const std::string second = line_of(1, 4000) + line_of(2, 450);
  for (const std::string settings : {"", " world_size ............ 8\n", " world_size ............ 16\n"}) {
    const Recording recording = recording_of(first + "RuntimeError: NCCL error\n" + settings + second);
    EXPECT_THAT(recording.unknown, Contains(HasSubstr("2 runs")));
    ASSERT_THAT(names_of(recording), ElementsAre("iteration 1", "iteration 2")) << settings;
    EXPECT_NEAR(recording.steps[1].time.value, 0.45, 1e-9);
    EXPECT_EQ(recording.world, settings.find("16") == settings.npos ? 8 : 16);
  }
  // With as many ranks a run that goes on from its checkpoint is the same.
  EXPECT_THAT(recording_of(first + " world_size ............ 8\n" + line_of(4, 802)).steps, SizeIs(4));
  EXPECT_THAT(recording_of(first + " world_size ............ 4\n" + line_of(4, 1602)).steps, SizeIs(1));
}

TEST(MegatronLogs, OfGptNeoxHaveTheBatchOfTheirLastRun) {
  const auto iteration = [](int number, double rate, double time) {
    return fmt::format(" samples/sec: {} | iteration {:8}/ 10000 | elapsed time per iteration (ms): {:.1f} |\n", rate,
                       number, time);
  };
  EXPECT_EQ(recording_of(iteration(1, 8, 4000) + iteration(2, 8, 4000) + iteration(1, 16, 4001)).global_batch, 64);
}

TEST(MegatronLogs, OfSeveralNodesCountAnIterationOnce) {
  const std::string one = line_of(1, 1000.5), two = line_of(2, 1001.5), three = line_of(3, 1002.5);
  for (const std::string& text : {one + one + two + two + three + three, one + two + one + two + three + three,
                                  one + two + three + one + two + three}) {
    const Recording recording = recording_of(text);
    EXPECT_THAT(recording.steps, SizeIs(3));
    EXPECT_THAT(recording.unknown, Not(Contains(HasSubstr("runs"))));
  }
}

TEST(MegatronLogs, WhoseBatchGrowsHaveTheStepsOfTheLastOne) {
  const Recording recording =
      recording_of(line_of(1, 1000, 512) + line_of(2, 1001, 512) + line_of(3, 1500, 768) + line_of(4, 1501, 768));
  EXPECT_THAT(names_of(recording), ElementsAre("iteration 3", "iteration 4"));
  EXPECT_EQ(recording.global_batch, 768);
  EXPECT_THAT(recording.unknown,
              Contains("Iterations of other batches than the last one of 768 are left out: 2 of them."));
}

TEST(MegatronLogs, HaveTheRanksOfTheListOfArguments) {
  const Recording recording = recording_of(
      "15:   data_parallel_size .............................. 4\n"
      "15:   world_size ...................................... 16\n" +
      line_of(1, 1000));
  EXPECT_EQ(recording.world, 16);
  EXPECT_EQ(recording.sharing, 4);
  EXPECT_EQ(recording.batch, 256);
}

// DeepSpeed counts its all-reduce as a part of the backward pass, and so does GPT-NeoX, whose own timer of it is 0.
TEST(MegatronLogs, OfDeepSpeedHaveTheAllReduceThatItTimes) {
  const auto iteration = [](int number, double reduced) {
    return fmt::format(
        "[2023-07-25 21:03:17,269] [INFO] [Rank 0] rank=0 time (ms) | forward: 652.41 | backward: 2164.52 | "
        "backward_inner: 2001.89 | backward_allreduce: {:.2f} | step: 1172.13\n"
        " samples/sec: 7.8 | iteration {:8}/ 10000 | elapsed time per iteration (ms): 4100.0 | loss scale: 1.0 |\n"
        "time (ms) | forward: 659.86 | backward: 2164.69 | backward-allreduce: 0.00 | optimizer: 1172.51\n",
        reduced, number);
  };
  const std::string without = " iteration 12/ 10000 | elapsed time per iteration (ms): 4100.0 | loss scale: 1.0 |\n";
  const Recording recording = recording_of(iteration(10, 162.6) + iteration(11, 160.2) + without);
  ASSERT_THAT(recording.steps, SizeIs(3));
  EXPECT_NEAR(recording.steps[0].exposed.value, 0.1626, 1e-9);
  EXPECT_NEAR(recording.steps[1].exposed.value, 0.1602, 1e-9);
  EXPECT_NEAR(recording.steps[0].backward_began->value, 0.65986, 1e-9);
  EXPECT_NEAR(recording.steps[0].backward_ended->value, 0.65986 + 2.16469 - 0.1626, 1e-9);
  EXPECT_NEAR(recording.steps[2].exposed.value, 0.1602, 1e-9) << "DeepSpeed says it now and then";
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
