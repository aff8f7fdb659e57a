// Steps of a GPU that is behind its host, or waits for it; recordings of inference; and advice that is of the file.

#include <fmt/format.h>

#include <tuple>

#include "tests/analysis/jobs_examples.hpp"
#include "tests/analysis/jobs_recording.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::jobs_device_test {
namespace {

constexpr double kTolerance = 1e-7;

class DeviceSteps : public ::testing::Test {
 protected:
  TrainingJob job(const TraceText& trace, int world = 0) {
    return job_of({file_of(folder_, "trace.json", trace.text(0, world, "nccl"))});
  }
  TemporaryFolder folder_;
};

/// The host launches a step in 10 ms, and the GPU, which is 50 ms behind when the recording begins, takes 100.
TEST_F(DeviceSteps, AreThoseOfAGpuThatFallsBehindItsHost) {
  TraceText trace;
  for (int step = 0; step < 3; ++step) {
    const double host = 10.0 * step, device = 50 + 100.0 * step;
    trace.mark(fmt::format("ProfilerStep#{}", step), host, host + 10);
    trace.kernel("forward", host + 1, 1, device, device + 30);
    trace.host("autograd::engine::evaluate_function: ConvBackward0", host + 5, host + 8, 2);
    trace.kernel("backward", host + 5.5, 2, device + 30, device + 90);
    trace.gradient(host + 8, host + 8.5, 20);
    trace.kernel("sgd", host + 9, 1, device + 90, device + 100);
  }
  const TrainingJob job = this->job(trace);
  EXPECT_NEAR(job.fastest_step.value, 0.1, kTolerance);
  EXPECT_NEAR(job.slowest_step.value, 0.1, kTolerance);
  EXPECT_NEAR(job.forward->value, 0.03, kTolerance);
  EXPECT_NEAR(job.backward->value, 0.06, kTolerance);
  EXPECT_NEAR(job.update.value, 0.01, kTolerance);
  EXPECT_NEAR(job.compute->value, 0.1, kTolerance);
  EXPECT_NEAR(job.idle->value, 0, kTolerance);
  EXPECT_THAT(job.unknown, Not(Contains(HasSubstr("add up"))));
}

/// The GPU waits for 50 ms of input, computes from 60 to 80 ms, and exchanges something until 90.
TEST_F(DeviceSteps, ShowWhatTheGpuWaitsFor) {
  TraceText trace;
  trace.mark("ProfilerStep#1", 0, 100);
  trace.mark("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 50);
  trace.kernel("forward", 60, 1, 60, 70);
  trace.host("record_param_comms", 61, 62, 1, R"("Collective name": "all_to_allv", "In msg nelems": 4096)");
  trace.kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 61.5, 1, 75, 90);
  trace.host("autograd::engine::evaluate_function: ConvBackward0", 70, 80, 2);
  trace.kernel("backward", 70, 2, 70, 80);
  const TrainingJob job = this->job(trace, 2);
  EXPECT_NEAR(job.input->value, 0.05, kTolerance);
  ASSERT_EQ(job.others.size(), 1U);
  EXPECT_NEAR(job.others[0].alone.value, 0.01, kTolerance) << "from 80 to 90 ms";
  EXPECT_NEAR(job.idle->value, 0.07, kTolerance);
}

/// A step of 100 ms: forward to 20, backward passes to 40 and 70, whose kernels wait for an exchange each, to 50
/// and 80.
TraceText held_up(const std::string& operation, double second_launch) {
  TraceText trace;
  trace.mark("ProfilerStep#1", 0, 100);
  trace.kernel("forward", 1, 1, 1, 20);
  for (const auto& [at, launched, begin] : {std::tuple(20.0, 20.0, 20.0), {22.0, second_launch, 50.0}}) {
    trace.host("autograd::engine::evaluate_function: ConvBackward0", at, std::max(at, launched) + 0.5, 2);
    trace.kernel("backward", launched, 2, begin, begin + 20);
    trace.gradient(std::max(at, launched) + 0.6, std::max(at, launched) + 0.7, 30);
    trace.host("record_param_comms", std::max(at, launched) + 0.8, std::max(at, launched) + 0.9, 2,
               fmt::format(R"("Collective name": "{}", "In msg nelems": 30)", operation));
    trace.kernel("ncclDevKernel_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", std::max(at, launched) + 0.85, 2,
                 begin + 20, begin + 30);
  }
  trace.mark("Optimizer.step#SGD.step", 60, 61);
  trace.kernel("sgd", 60.5, 1, 80, 90);
  return trace;
}

TEST_F(DeviceSteps, WaitForExchangesInTheMiddleOfTheBackwardPassToo) {
  for (const char* operation : {"allreduce", "reduce", "_reduce_scatter_base"}) {
    const TrainingJob job = this->job(held_up(operation, 23), 2);
    ASSERT_EQ(job.buckets.size(), 2U) << operation;
    EXPECT_NEAR(job.exposed.value, 0.02, kTolerance) << "from 40 to 50, and from 70 to 80 ms";
    EXPECT_NEAR(job.communication.value, 0.02, kTolerance);
    EXPECT_NEAR(job.backward->value, 0.04, kTolerance);
    EXPECT_NEAR(job.update.value, 0.02, kTolerance);
    ASSERT_TRUE(job.workload);
    EXPECT_NEAR(job.workload->timeline.gradients[1].ready.value, 0.04, kTolerance) << "as it was computed";
  }
  const TrainingJob idle = this->job(held_up("allreduce", 49.5), 2);
  EXPECT_NEAR(idle.exposed.value, 0.0105, kTolerance) << "until 49.5 ms the GPU waited for its host";
}

TEST_F(DeviceSteps, CountATimeInWhichSeveralExchangesOfAKindRunOnce) {
  TraceText trace;
  trace.mark("ProfilerStep#1", 0, 100);
  trace.kernel("forward", 1, 1, 1, 20);
  for (const auto& [name, at, end] : {std::tuple("send", 2.0, 24.0), {"recv", 3.0, 30.0}}) {
    trace.host("record_param_comms", at, at + 0.5, 1,
               fmt::format(R"("Collective name": "{}", "In msg nelems": 4096)", name));
    trace.kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", at + 0.2, 1, 18 + at, end);
  }
  trace.host("autograd::engine::evaluate_function: ConvBackward0", 30, 40, 2);
  trace.kernel("backward", 30, 2, 30, 80);
  const TrainingJob job = this->job(trace, 2);
  ASSERT_EQ(job.others.size(), 1U);
  EXPECT_EQ(job.others[0].operation, "send-receive");
  EXPECT_NEAR(job.others[0].alone.value, 0.01, kTolerance) << "from 20 to 30 ms";
}

TEST_F(DeviceSteps, OfACudaGraphNameItWhereTheBackwardPassIsMissing) {
  TraceText trace;
  trace.mark("ProfilerStep#1", 0, 100);
  trace.raw(R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "tid": 1, "ts": 4e9, "dur": 1},)");
  trace.kernel("gemm", 1, 1, 1, 90);
  EXPECT_THAT(this->job(trace, 2).unknown, Contains(HasSubstr("ran as a CUDA graph")));
}

// Thread 1 marks the step of 100 ms.
TEST_F(DeviceSteps, CountTheInputOfTheirOwnThreadOnce) {
  struct Call {
    double begin, end;
    int thread;
  };
  for (const auto& [calls, input] : std::vector<std::pair<std::vector<Call>, std::optional<double>>>{
           {{{0, 80, 1}, {0, 80, 5}}, 0.08},
           {{{0, 30, 1}, {1, 29, 1}}, 0.03},
           {{{-20, 10, 1}, {90, 120, 1}}, 0.02},
           {{{0, 80, 5}}, std::nullopt},
       }) {
    TraceText trace;
    trace.mark("ProfilerStep#1", 0, 100);
    for (const Call& call : calls)
      trace.mark("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", call.begin, call.end, call.thread);
    trace.host("autograd::engine::evaluate_function: ConvBackward0", 85, 90, 2);
    const std::optional<Seconds> found = this->job(trace, 1).input;
    ASSERT_EQ(found.has_value(), input.has_value());
    EXPECT_NEAR(found.value_or(Seconds(0)).value, input.value_or(0), kTolerance);
  }
}

/// As timers of several ranks may: each is that of the slowest.
TEST(JobParts, ThatAddUpToMoreThanTheStepAreDoubted) {
  RecordedStep step{.time = Seconds(0.1), .backward_began = Seconds(0.08), .backward_ended = Seconds(0.14)};
  const TrainingJob job = make_job({{.file = "train.log", .format = "megatron", .steps = {step}}}, {});
  EXPECT_THAT(job.unknown, Contains("Forward, backward and exposed time add up to 140 ms, more than the step's 100 ms: "
                                    "they are not of one clock or rank, so doubt each of them."));
}

TEST(Inference, IsNoTrainingJob) {
  const TemporaryFolder folder;
  TraceText marked, unmarked, graphs;
  for (TraceText* each : {&marked, &unmarked, &graphs}) each->host("aten::linear", 1, 2);
  marked.mark("ProfilerStep#6", 0, 10).kernel("gemm", 1, 1, 2, 3);
  graphs.raw(R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "tid": 1, "ts": 5, "dur": 1},)");
  const std::string is = ": it is a recording of inference: no backward pass and no optimizer are in it";
  for (const auto& [trace, said] :
       {std::pair(&marked, is), {&unmarked, is}, {&graphs, is + " (or they ran as CUDA graphs, which hide them)"}})
    expect_error([&, trace = trace] { job_of({file_of(folder, "a.json", trace->text(0, 0))}); }, ExitCode::usage,
                 EndsWith(said), HasSubstr("record steps of training"));
  // What a file that is cut off would have shown is not known.
  const std::string text = marked.text(0, 0);
  EXPECT_EQ(job_of({file_of(folder, "cut.json", text.substr(0, text.size() - 60))}).steps, 1);
}

TEST(JobAdvice, IsThatOfTheFormat) {
  const std::string log =
      " iteration 71/ 100 | elapsed time per iteration (ms): 5361.6 | global batch size:   128 | lm loss: 1.8 |\n";
  EXPECT_THAT(RecordedFile("train.log", log).job().unknown,
              ElementsAre("A log does not show when each gradient is ready (the log does not have the sizes of its "
                          "buckets): --profile --use-pytorch-profiler records a step.",
                          "Forward and backward pass are not in the log: train with --timing-log-level 2."));
  const std::string timers =
      log + "    forward-compute ......: (90.1, 98.5)\n    backward-compute .....: (190.1, 200.5)\n";
  EXPECT_THAT(RecordedFile("train.log", timers).job().unknown,
              Contains("The file has the batch of all ranks (128): --ranks says how many share it."));
  EXPECT_THAT(RecordedFile("train.log", timers).job({.ranks = 16}).unknown, Not(Contains(HasSubstr("batch"))));
  std::string timeline = "[\n";
  for (const int at : {100, 200, 300}) {
    const auto event = [&](const char* kind, const char* name, int when) {
      timeline += fmt::format(R"({{"ph": "{}", "name": "{}", "ts": {}, "pid": 1}},)", kind, name, at + when) + "\n";
    };
    event("B", "NEGOTIATE_ALLREDUCE", 0);
    event("E", "", 1);
    event("B", "ALLREDUCE", 2);
    event("B", "NCCL_ALLREDUCE", 3);
    event("E", "", 20);
    event("E", "", 21);
  }
  const TrainingJob horovod = RecordedFile("timeline.json", timeline).job({.ranks = 2});
  EXPECT_EQ(horovod.unknown.back(),
            "The sizes of the gradients are not in the file: name a workload that has them by --tensors.");
  for (const char* strange : {"record_shapes", "ProfilerActivity", "ranks is here"})
    EXPECT_THAT(horovod.unknown, Not(Contains(HasSubstr(strange)))) << strange;
}

TEST(JobAdvice, NamesWhatElseHbenchDoesWithAFile) {
  for (const auto& [name, text, hint] :
       {std::tuple{
            "a.log", "epoch 1 | 512.3 images/s\nepoch 2 | 511.9 images/s\n",
            "record some steps with torch.profiler, or follow a number of it: hbench track init --pattern REGEX"},
        {"b.log", "[INFO] forward_microstep: 1330.05 | backward_microstep: 4766.88\n",
         "record some steps with torch.profiler, or follow a number of it: hbench track init --pattern REGEX"},
        {"c.json", R"([{"name": "AllReduce", "cat": "COLL", "ph": "b", "id": 0, "ts": 1}])",
         "record some steps with torch.profiler, or exchanges alone with NCCL Inspector"}})
    expect_error([&, name = name, text = text] { RecordedFile(name, text).read(); }, ExitCode::usage, HasSubstr(name),
                 HasSubstr(hint));
}

}  // namespace
}  // namespace hbench::jobs_device_test
