// What a trace of torch.profiler says about a step.

#include <fmt/format.h>

#include <cstring>
#include <tuple>

#include "collectives/base/error.hpp"
#include "tests/analysis/jobs_recording.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::jobs_kineto_test {
namespace {

constexpr double kTolerance = 1e-7;

class Kineto : public ::testing::Test {
 protected:
  TrainingJob job(const TraceText& trace, int world = 2, const std::string& backend = "gloo",
                  const JobRequest& request = {}) {
    return job_of({file_of(folder_, "trace.json", trace.text(0, world, backend))}, request);
  }
  TemporaryFolder folder_;
};

TEST_F(Kineto, GivesThePartsOfAStepThatAddUp) {
  const TrainingJob job = this->job(gloo_steps());
  EXPECT_EQ(job.steps, 2);
  EXPECT_EQ(job.ranks, 2);
  EXPECT_NEAR(job.step.value, 0.1, kTolerance);
  EXPECT_NEAR(job.forward->value, 0.02, kTolerance);
  EXPECT_NEAR(job.backward->value, 0.04, kTolerance);
  EXPECT_NEAR(job.exposed.value, 0.01, kTolerance);
  EXPECT_NEAR(job.update.value, 0.03, kTolerance);
  EXPECT_NEAR(job.optimizer->value, 0.028, kTolerance);
  EXPECT_NEAR(job.communication.value, 0.02, kTolerance);
  EXPECT_NEAR(job.replayed->value, 0.1, kTolerance);
}

TEST_F(Kineto, GivesBucketsWithTheirTensorsSizesAndTimes) {
  const TrainingJob job = this->job(gloo_steps());
  ASSERT_EQ(job.buckets.size(), 2U);
  EXPECT_EQ(job.buckets[0].elements, 30);
  EXPECT_EQ(job.buckets[0].tensors, 2);
  EXPECT_NEAR(job.buckets[0].launched.value, 0.04, kTolerance);
  EXPECT_NEAR(job.buckets[0].duration->value, 0.01, kTolerance);
  EXPECT_EQ(job.buckets[1].elements, 30);
  EXPECT_EQ(job.buckets[1].tensors, 1);
  EXPECT_EQ(job.type, "float32");
}

TEST_F(Kineto, MakesAWorkloadWhoseGradientsAreReadyWhenTheyWere) {
  JobRequest request;
  request.batch = 8;
  const TrainingJob job = this->job(gloo_steps(), 2, "gloo", request);
  ASSERT_TRUE(job.workload);
  const StepTimeline& timeline = job.workload->timeline;
  EXPECT_EQ(timeline.batch, 8);
  EXPECT_NEAR(timeline.forward.value, 0.02, kTolerance);
  EXPECT_NEAR(timeline.step().value, 0.09, kTolerance) << "without what it waited";
  EXPECT_NEAR(timeline.backward.value, 0.04, kTolerance);
  EXPECT_NEAR(timeline.update.value, 0.03, kTolerance) << "what comes after the gradients";
  ASSERT_EQ(timeline.gradients.size(), 3U);
  EXPECT_EQ(timeline.gradients[1].elements, 20);
  EXPECT_NEAR(timeline.gradients[1].ready.value, 0.02, kTolerance);
  EXPECT_THAT(job.workload->buckets, ElementsAre(2, 1));
  EXPECT_EQ(parse_trace(format_trace(*job.workload), "my.toml").recorded_fusion(), "recorded:2-1");
}

/// A step of one GPU whose host is 50 ms ahead of it: launches within 10 ms, kernels of 30 and 60 ms.
TraceText steps_of_a_host_that_runs_ahead() {
  TraceText trace;
  trace.kernel("warm_up", -5, 1, -5, 50);
  for (int step = 0; step < 3; ++step) {
    const double host = 100.0 * step, device = host + 50;
    trace.mark(fmt::format("ProfilerStep#{}", step), host, host + 100);
    trace.kernel("forward", host + 1, 1, device, device + 30);
    trace.host("autograd::engine::evaluate_function: ConvBackward0", host + 5, host + 6, 2);
    trace.kernel("backward", host + 5.5, 2, device + 30, device + 60);
    trace.gradient(host + 6, host + 6.5, 10);
    trace.host("autograd::engine::evaluate_function: ConvBackward0", host + 7, host + 8, 2);
    trace.kernel("backward", host + 7.5, 2, device + 60, device + 90);
    trace.gradient(host + 8, host + 8.5, 20);
    trace.kernel("sgd", host + 9, 1, device + 90, device + 100);
  }
  return trace;
}

TEST_F(Kineto, TakesTheTimesOfTheDeviceWhereTheHostRunsAhead) {
  const TrainingJob job = this->job(steps_of_a_host_that_runs_ahead(), 0, "");
  EXPECT_NEAR(job.forward->value, 0.03, kTolerance);
  EXPECT_NEAR(job.backward->value, 0.06, kTolerance);
  EXPECT_NEAR(job.update.value, 0.01, kTolerance);
  ASSERT_TRUE(job.workload);
  EXPECT_NEAR(job.workload->timeline.gradients[0].ready.value, 0.03, kTolerance);
  EXPECT_NEAR(job.workload->timeline.gradients[1].ready.value, 0.06, kTolerance);
  EXPECT_THAT(job.buckets, IsEmpty());
}

/// An all-reduce of NCCL by its three events of the host and its kernel.
void add_nccl(TraceText& trace, double at, double begin, double end, int elements, const std::string& group = "0") {
  const std::string arguments =
      fmt::format(R"("Collective name": "allreduce", "In msg nelems": {}, "dtype": "BFloat16", "Group size": 4, )"
                  R"("Process Group Name": "{}")",
                  elements, group);
  trace.host("c10d::allreduce_", at, at + 1, 2);
  trace.host("record_param_comms", at + 0.1, at + 0.9, 2, arguments);
  trace.mark("nccl:all_reduce", at + 0.1, at + 0.9, 2);
  trace.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", at + 0.5, 2, begin, end);
}

/// One step of one rank with NCCL; the optimizer's kernel is launched at `next`.
TraceText nccl_step(double next, const std::string& second_group = "0") {
  TraceText trace;
  trace.mark("ProfilerStep#1", 0, 100);
  trace.kernel("forward", 1, 1, 1, 20);
  trace.host("autograd::engine::evaluate_function: ConvBackward0", 20, 29, 2);
  trace.kernel("backward", 20, 2, 20, 30);
  trace.gradient(29, 30, 0);
  add_nccl(trace, 31, 32, 40, 500);
  trace.gradient(49, 50, 0);
  add_nccl(trace, 51, 52, 70, 700, second_group);
  trace.host("autograd::engine::evaluate_function: ConvBackward0", 52, 53, 2);
  trace.kernel("sgd", next, 1, std::max(next, 71.0), 90);
  return trace;
}

constexpr const char* kNoOptimizer = "When the optimizer begins is not in the file";

TEST_F(Kineto, LeavesWhatMayBeTheOptimizerInTheBackwardPassAndSaysSo) {
  const TrainingJob job = this->job(steps_of_a_host_that_runs_ahead(), 0, "");
  EXPECT_FALSE(job.optimizer);
  EXPECT_NEAR(job.workload->timeline.backward.value, 0.07, kTolerance);
  EXPECT_EQ(job.workload->timeline.update.value, 0);
  EXPECT_THAT(job.unknown, Contains(HasSubstr(kNoOptimizer)));
}

TEST_F(Kineto, TakesTheKernelsThatTheOptimizersCallLaunched) {
  TraceText trace = steps_of_a_host_that_runs_ahead();
  for (int step = 0; step < 3; ++step) trace.mark("Optimizer.step#AdamW.step", 100.0 * step + 8.8, 100.0 * step + 9.5);
  const TrainingJob job = this->job(trace, 0, "");
  EXPECT_NEAR(job.optimizer->value, 0.01, kTolerance) << "of the device, not the call's 0.7 ms";
  EXPECT_NEAR(job.workload->timeline.backward.value, 0.06, kTolerance);
  EXPECT_NEAR(job.workload->timeline.update.value, 0.01, kTolerance);
  EXPECT_THAT(job.unknown, Not(Contains(HasSubstr(kNoOptimizer))));
}

// The last gradient is there at 50 ms; the host, which is late, launches the optimizer's kernel at 80 ms.
TEST_F(Kineto, LetsGradientsTravelWhileTheHostIsLateWithTheOptimizer) {
  TraceText trace = nccl_step(80);
  trace.mark("Optimizer.step#SGD.step", 75, 85);
  const TrainingJob job = this->job(trace, 8, "nccl");
  EXPECT_NEAR(job.optimizer->value, 0.01, kTolerance);
  EXPECT_NEAR(job.workload->timeline.update.value, 0.02, kTolerance) << "from 80 ms to the end of the step";
  EXPECT_NEAR(job.workload->timeline.step().value, 0.1, kTolerance);
}

TEST_F(Kineto, TakesACallWithinTheBackwardPassForNoUpdateAfterIt) {
  TraceText trace = steps_of_a_host_that_runs_ahead();
  for (int step = 0; step < 3; ++step) trace.mark("Optimizer.step#SGD.step", 100.0 * step + 6.6, 100.0 * step + 6.9);
  EXPECT_FALSE(job(trace, 0, "").optimizer);
}

TEST_F(Kineto, KnowsACollectiveByItsEventsOfTheHostAndItsKernel) {
  const TrainingJob job = this->job(nccl_step(54), 8, "nccl");
  ASSERT_EQ(job.buckets.size(), 2U);
  EXPECT_EQ(job.buckets[0].elements, 500);
  EXPECT_EQ(job.buckets[1].elements, 700);
  EXPECT_EQ(job.buckets[1].tensors, 1);
  EXPECT_NEAR(job.buckets[1].duration->value, 0.018, kTolerance);
  EXPECT_EQ(job.type, "bfloat16");
  EXPECT_EQ(job.ranks, 4) << "those of the group, not of the job";
  EXPECT_EQ(job.recordings[0].gpu, "NVIDIA A100");
  EXPECT_THAT(job.others, IsEmpty());
}

TEST_F(Kineto, CountsAsExposedWhatTheDeviceWaitedForAndNotWhatTheHostWasLate) {
  EXPECT_NEAR(job(nccl_step(54), 8, "nccl").exposed.value, 0.016, kTolerance) << "from 54 to 70 ms";
  EXPECT_NEAR(job(nccl_step(80), 8, "nccl").exposed.value, 0, kTolerance);
}

TEST_F(Kineto, LeavesOutWhatWasLaunchedBeforeTheRecordingBegan) {
  TraceText trace = nccl_step(54);
  // The last bucket of a warm-up step still runs on the device; who launched it is not in the file.
  trace.earlier_kernel("ncclDevKernel_AllReduce_f32_RING(ncclDevKernelArgsStorage<4096ul>)", 2, 9);
  const TrainingJob job = this->job(trace, 8, "nccl");
  ASSERT_EQ(job.buckets.size(), 2U);
  EXPECT_EQ(job.buckets[0].elements, 500);
  EXPECT_THAT(job.others, IsEmpty());
}

TEST_F(Kineto, TakesAReduceScatterBehindTheBackwardPassForItsLastGroupAndNoOtherExchange) {
  for (const auto& [operation, buckets] : {std::pair("_reduce_scatter_base", 3U), std::pair("allreduce", 2U)}) {
    TraceText trace = nccl_step(54);
    trace.host("record_param_comms", 55, 56, 2,
               fmt::format(R"("Collective name": "{}", "In msg nelems": 900, "dtype": "BFloat16", "Group size": 4, )"
                           R"("Process Group Name": "0")",
                           operation));
    EXPECT_EQ(job(trace, 8, "nccl").buckets.size(), buckets) << operation;
  }
}

TEST_F(Kineto, TakesGathersBesideScatteredGradientsForParametersThatAreSharded) {
  TraceText trace;
  trace.mark("ProfilerStep#1", 0, 100);
  const auto exchange = [&](const char* name, const char* kernel, double begin, double end, int thread) {
    trace.host("record_param_comms", begin, begin + 0.5, thread,
               fmt::format(R"("Collective name": "{}", "In msg nelems": 900, "dtype": "BFloat16", "Group size": 4, )"
                           R"("Process Group Name": "0")",
                           name));
    trace.kernel(fmt::format("ncclDevKernel_{}_RING_LL(ncclDevKernelArgsStorage<4096ul>)", kernel), begin + 0.1, thread,
                 begin + 0.2, end);
  };
  exchange("_allgather_base", "AllGather", 0.5, 5, 1);
  trace.kernel("forward", 5, 1, 5, 20);
  trace.host("autograd::engine::evaluate_function: ConvBackward0", 20, 48, 2);
  trace.kernel("backward", 20, 2, 20, 20.5);
  exchange("_allgather_base", "AllGather", 20.5, 28, 2);
  trace.kernel("backward", 28, 2, 28, 48);
  trace.gradient(47, 48, 0);
  exchange("_reduce_scatter_base", "ReduceScatter_Sum_bf16", 48.5, 60, 2);
  trace.kernel("sgd", 61, 1, 61, 90);
  const TrainingJob job = this->job(trace, 4, "nccl");
  ASSERT_TRUE(job.gathering);
  EXPECT_NEAR(job.gathering->forward.value, 4.3e-3, kTolerance);
  EXPECT_NEAR(job.gathering->backward.value, 7.3e-3, kTolerance);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("--method fsdp")));
  EXPECT_THAT(job.unknown, Not(Contains(HasSubstr("not data parallelism alone"))));
  ASSERT_TRUE(job.workload);
  EXPECT_NEAR((*job.forward - job.workload->timeline.forward).value, 4.3e-3, kTolerance);
}

TEST_F(Kineto, SaysWhereTheDeviceWaitsForItsHost) {
  const TrainingJob waits = job(nccl_step(54), 8, "nccl");
  // Kernels of the model run from 1 to 30 and from 71 to 90 ms of 100, and it waits for gradients from 54 to 70.
  EXPECT_THAT(waits.unknown, Contains(HasSubstr("idle for 36 % of a step")));
  EXPECT_THAT(job(steps_of_a_host_that_runs_ahead(), 0, "").unknown, Not(Contains(HasSubstr("idle"))));
}

TEST_F(Kineto, KnowsNoSplitWhereTheLastBackwardPassHasNoKernels) {
  TraceText trace;
  trace.mark("ProfilerStep#1", 0, 100);
  trace.kernel("forward and backward, side by side", 1, 1, 1, 95);
  trace.host("autograd::engine::evaluate_function: ConvBackward0", 95, 95.01, 2);
  const TrainingJob job = this->job(trace, 0, "");
  EXPECT_FALSE(job.forward);
  EXPECT_FALSE(job.backward);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("run beside each other")));
  EXPECT_FALSE(job.workload);
}

TEST_F(Kineto, BlamesNoHostWhereTheFileHasHardlyAnyKernels) {
  TraceText trace;
  for (int step = 0; step < 3; ++step) {
    const double host = 100.0 * step;
    trace.mark(fmt::format("ProfilerStep#{}", step), host, host + 100);
    trace.kernel("forward", host + 1, 1, host + 1, host + 1.01);
    trace.host("autograd::engine::evaluate_function: ConvBackward0", host + 5, host + 6, 2);
    trace.kernel("backward", host + 5.5, 2, host + 5.5, host + 5.51);
    trace.gradient(host + 6, host + 6.5, 10);
  }
  const TrainingJob job = this->job(trace, 0, "");
  EXPECT_FALSE(job.idle);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("The file has hardly any kernels of a step (0.02 ms of 100 ms)")));
  EXPECT_THAT(job.unknown, Not(Contains(HasSubstr("idle"))));
}

TEST_F(Kineto, WithoutShapesTakesBucketsForGradientsAndSaysSo) {
  const TrainingJob job = this->job(nccl_step(54), 8, "nccl");
  ASSERT_TRUE(job.workload);
  ASSERT_EQ(job.workload->timeline.gradients.size(), 2U);
  EXPECT_EQ(job.workload->timeline.gradients[1].elements, 700);
  EXPECT_THAT(job.workload->buckets, ElementsAre(1, 1));
  EXPECT_THAT(job.unknown, Contains(HasSubstr("record_shapes=True")));
}

TEST_F(Kineto, AsksForTheGroupWhereTwoExchangeInTheBackwardPass) {
  EXPECT_THROW(job(nccl_step(54, "tensor"), 8, "nccl"), Error);
  JobRequest request;
  request.group = "0";
  EXPECT_EQ(job(nccl_step(54, "tensor"), 8, "nccl", request).buckets.size(), 1U);
  request.group = "pipeline";
  EXPECT_THROW(job(nccl_step(54, "tensor"), 8, "nccl", request), Error);
}

TEST_F(Kineto, NamesExchangesThatAreNotDataParallelism) {
  TraceText trace = nccl_step(54);
  trace.host("record_param_comms", 5, 6, 1, R"("Collective name": "all_to_allv", "In msg nelems": 4096)");
  const TrainingJob job = this->job(trace, 8, "nccl");
  ASSERT_EQ(job.others.size(), 1U);
  EXPECT_EQ(job.others[0].operation, "all-to-all");
  EXPECT_EQ(job.others[0].elements, 4096);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("not data parallelism alone")));
}

TEST_F(Kineto, FindsStepsByTheOptimizerWhereNoneAreMarked) {
  TraceText trace;
  for (int step = 0; step < 4; ++step) {
    const double at = 100.0 * step;
    trace.host("autograd::engine::evaluate_function: ConvBackward0", at + 30, at + 40, 1);
    trace.mark("Optimizer.step#Adam.step", at + 80, at + 90);
  }
  const TrainingJob job = this->job(trace, 0, "");
  EXPECT_EQ(job.steps, 3) << "the first one began before the recording";
  EXPECT_NEAR(job.step.value, 0.1, kTolerance);
}

TEST_F(Kineto, TakesARecordingWithOneUnmarkedUpdateForOneStepAndSaysSo) {
  TraceText trace;
  trace.host("aten::conv2d", 10, 20);
  trace.host("autograd::engine::evaluate_function: ConvBackward0", 30, 40, 1);
  trace.mark("Optimizer.step#Adam.step", 80, 90);
  const TrainingJob job = this->job(trace, 0, "");
  EXPECT_EQ(job.steps, 1);
  EXPECT_NEAR(job.step.value, 0.08, kTolerance) << "from the first event to the end of the update";
  EXPECT_THAT(job.unknown, Contains(HasSubstr("marks no step")));
}

/// A step of two backward passes, of gradients of 10 and 20 elements and of these.
TraceText two_passes(int first, int second, bool sends) {
  TraceText trace;
  trace.mark("ProfilerStep#1", 0, 200);
  for (const auto& [at, elements] : {std::pair(0.0, std::pair(10, 20)), std::pair(100.0, std::pair(first, second))}) {
    trace.host("autograd::engine::evaluate_function: B", at + 20, at + 29, 2,
               fmt::format("\"Sequence number\": {}", 5 + at));
    trace.gradient(at + 29, at + 30, elements.first);
    trace.host("autograd::engine::evaluate_function: A", at + 30, at + 39, 2,
               fmt::format("\"Sequence number\": {}", 4 + at));
    trace.gradient(at + 39, at + 40, elements.second);
    if (sends || at > 0) trace.host("c10d::allreduce_", at + 40, at + 41, 2, R"("Input Dims": [[[30]], []])");
  }
  trace.mark("Optimizer.step#Adam.step", 150, 160);
  return trace;
}

TEST_F(Kineto, TakesPassesWithAnOptimizerBetweenThemForThoseOfSeveralModels) {
  for (const bool sends : {true, false}) {
    TraceText trace = two_passes(10, 20, sends);
    trace.mark("Optimizer.step#Adam.step", 50, 60);
    const TrainingJob job = this->job(trace);
    EXPECT_THAT(job.unknown, Contains(HasSubstr("as of several models")));
    EXPECT_THAT(job.unknown, Not(Contains(HasSubstr("no_sync()"))));
    EXPECT_THAT(job.unknown, Not(Contains(HasSubstr("added up"))));
    EXPECT_NEAR(job.forward->value, 0.02, kTolerance) << "from the first pass on";
  }
}

TEST_F(Kineto, TakesTheLastPassOfAccumulatedGradients) {
  const TrainingJob job = this->job(two_passes(10, 20, false));
  EXPECT_NEAR(job.forward->value, 0.12, kTolerance);
  ASSERT_TRUE(job.workload);
  EXPECT_EQ(job.workload->timeline.gradients.size(), 2U);
  EXPECT_THAT(job.workload->buckets, ElementsAre(2));
  EXPECT_THAT(job.unknown, Contains(HasSubstr("A step has 2 backward passes")));
}

TEST_F(Kineto, CountsAllPassesWhereEachSendsItsGradientsAndWhereTheseDiffer) {
  const TrainingJob sent = job(two_passes(10, 20, true));
  EXPECT_EQ(sent.workload->timeline.gradients.size(), 4U);
  EXPECT_THAT(sent.unknown, Contains(HasSubstr("each sends the same gradients")));
  const TrainingJob others = job(two_passes(7, 23, false));
  EXPECT_NEAR(others.forward->value, 0.02, kTolerance);
  EXPECT_THAT(others.unknown, Not(Contains(HasSubstr("backward passes"))));
}

TEST_F(Kineto, KnowsAParameterOfOneNumber) {
  TraceText trace = gloo_steps();
  trace.host("torch::autograd::AccumulateGrad", 45, 46, 2, R"("Input Dims": [[]], "Input type": ["float"])");
  trace.host("torch::autograd::AccumulateGrad", 145, 146, 2, R"("Input Dims": [[]], "Input type": ["float"])");
  EXPECT_EQ(job(trace).recordings[0].steps[0].gradients[2].elements, 1);
}

// What a rank puts in is the second argument; Gloo runs it as an all-reduce.
TEST_F(Kineto, KnowsWhatARankPutsIntoAReduceScatterOfGloo) {
  TraceText trace;
  trace.mark("ProfilerStep#1", 0, 100);
  trace.host("autograd::engine::evaluate_function: ConvBackward0", 20, 50, 2);
  trace.host("c10d::_reduce_scatter_base_", 41, 42, 2,
             R"("Input Dims": [[30], [60]], "Input type": ["float", "float"])");
  trace.mark("gloo:all_reduce", 43, 48, 3, R"("Input Dims": [[60]], "Input type": ["float"])");
  const TrainingJob job = this->job(trace);
  ASSERT_EQ(job.buckets.size(), 1U);
  EXPECT_EQ(job.buckets[0].elements, 60);
  EXPECT_NEAR(job.buckets[0].duration->value, 0.005, kTolerance);
  EXPECT_THAT(job.others, IsEmpty());
}

TEST_F(Kineto, TakesAKernelOfAnotherVendorsCollectiveForNoneOfTheModel) {
  TraceText trace = nccl_step(54);
  trace.host("record_param_comms", 45, 46, 2, R"("Collective name": "allreduce", "Process Group Name": "0")");
  trace.kernel("rcclGenericKernel<4, false>(ncclDevComm*)", 45.5, 2, 45, 48);
  const TrainingJob job = this->job(trace, 8, "nccl");
  EXPECT_EQ(job.compute->value, this->job(nccl_step(54), 8, "nccl").compute->value);
}

/// Before torch 1.10 the host has no more of an all-reduce than the library's mark, and before 1.12 categories have
/// other names.
TEST_F(Kineto, ReadsOldTracesWithoutCountingAnExchangeTwice) {
  TraceText trace;
  for (int step = 0; step < 3; ++step) {
    const double at = 100.0 * step;
    trace.mark(fmt::format("ProfilerStep#{}", step), at, at + 100);
    trace.kernel("forward", at + 1, 1, at + 1, at + 20);
    trace.host("autograd::engine::evaluate_function: ConvBackward0", at + 20, at + 29, 2);
    trace.kernel("backward", at + 20, 2, at + 20, at + 60);
    for (const double ready : {at + 29, at + 49}) {
      trace.gradient(ready, ready + 1, 30);
      trace.mark("nccl:all_reduce", ready + 2, ready + 3, 2, R"("Input Dims": [[30]], "Input type": ["float"])");
      trace.kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", ready + 2.5, 2, ready + 3, ready + 8);
    }
    trace.host("autograd::engine::evaluate_function: ConvBackward0", at + 52, at + 53, 2);
  }
  std::string text = trace.text(0, 2, "nccl");
  for (const auto& [now, before] : {std::pair("\"kernel\"", "\"Kernel\""), std::pair("\"cuda_runtime\"", "\"Runtime\""),
                                    std::pair("\"cpu_op\"", "\"Operator\"")})
    for (std::size_t at = text.find(now); at != text.npos; at = text.find(now))
      text.replace(at, std::strlen(now), before);
  const TrainingJob job = job_of({file_of(folder_, "trace.json", text)});
  ASSERT_EQ(job.buckets.size(), 2U);
  EXPECT_EQ(job.buckets[0].elements, 30);
  EXPECT_EQ(job.buckets[1].tensors, 1);
  EXPECT_NEAR(job.buckets[1].duration->value, 0.005, kTolerance);
  EXPECT_TRUE(job.compute);
}

TEST_F(Kineto, SaysWhereTheFileHasNoKernelOfTheGpu) {
  const TrainingJob job = this->job(gloo_steps(), 2, "nccl");
  EXPECT_THAT(job.unknown, Contains(HasSubstr("No kernel of NVIDIA A100 is in the file")));
  EXPECT_EQ(job.recordings[0].gpu, "") << "whose times these are not";
  TraceText exchange;
  exchange.mark("ProfilerStep#15", 0, 100);
  exchange.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 10, 1, 12, 20);
  const std::vector<std::string> unknown = this->job(exchange, 2, "nccl").unknown;
  EXPECT_THAT(unknown, Contains(HasSubstr("No kernel of NVIDIA A100 is in the file, but those of exchanges")));
  EXPECT_THAT(unknown, Not(Contains(HasSubstr("marks no step"))));
}

TEST_F(Kineto, ShowsTheRankThatTheOthersWaitFor) {
  const TrainingJob job =
      job_of({file_of(folder_, "0.json", gloo_steps(9).text(0)), file_of(folder_, "1.json", gloo_steps().text(1))});
  ASSERT_TRUE(job.straggler);
  EXPECT_EQ(job.straggler->rank, 1) << "who comes last waits least";
  EXPECT_EQ(job.shown, 1U);
  EXPECT_NEAR(job.communication.value, 0.02, kTolerance) << "without waiting";
}

TEST_F(Kineto, ReadsTheListOfAPyTorchWithoutKineto) {
  const std::string text =
      R"([{"name": "ProfilerStep#1", "ph": "X", "ts": 0, "dur": 90000, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "aten::conv2d", "ph": "X", "ts": 10, "dur": 20, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "autograd::engine::evaluate_function: AddmmBackward0", "ph": "X", "ts": 30000, "dur": 20000, "tid": 1, "args": {}},
{"name": "torch::autograd::AccumulateGrad", "ph": "X", "ts": 49000, "dur": 10, "tid": 1, "args": {}},
{"name": "c10d::allreduce_", "ph": "X", "ts": 49500, "dur": 10, "tid": 1, "pid": "CPU functions", "args": {}}
])";
  const TrainingJob job = job_of({file_of(folder_, "list.json", text)});
  EXPECT_NEAR(job.step.value, 0.09, kTolerance);
  EXPECT_NEAR(job.forward->value, 0.03, kTolerance);
  EXPECT_EQ(job.buckets.size(), 1U);
  EXPECT_FALSE(job.workload);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("sizes of the gradients are not in the file")));
  EXPECT_THAT(job.unknown, Contains(HasSubstr("--ranks")));
}

TEST_F(Kineto, NamesGroupsThatExchangeSomethingInTheProgramsWords) {
  TraceText trace;
  trace.mark("ProfilerStep#1", 0, 100);
  trace.host("autograd::engine::evaluate_function: B", 20, 40, 2);
  for (const auto& [at, name, words] :
       {std::tuple(25.0, "5", "TENSOR_MODEL_PARALLEL_GROUP"), {30.0, "9", "DATA_PARALLEL_GROUP_WITH_CP"}})
    trace.host("record_param_comms", at, at + 1, 2,
               fmt::format(R"("Collective name": "allreduce", "In msg nelems": 30, "Process Group Name": "{}", )"
                           R"("Process Group Description": "{}")",
                           name, words));
  expect_error([&] { job(trace); }, ExitCode::usage,
               HasSubstr("'5' (TENSOR_MODEL_PARALLEL_GROUP), '9' (DATA_PARALLEL_GROUP_WITH_CP)"),
               "name the one that data parallelism has by --group");
}

}  // namespace
}  // namespace hbench::jobs_kineto_test
