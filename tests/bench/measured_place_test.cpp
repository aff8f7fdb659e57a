#include "bench/sweep/measured_place.hpp"

#include <fmt/format.h>

#include <set>

#include "collectives/cuda/cuda.hpp"
#include "tests/bench/plan_example.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::measured_place_test {
namespace {

/// `algorithm on gpus: executor`, of the cases that communicate.
std::vector<std::string> executors_of(const Plan& plan) {
  std::vector<std::string> all;
  for (const Case& asked : plan.cases)
    if (asked.strategy.algorithm != "none")
      all.push_back(fmt::format("{} on {}: {}", asked.strategy.algorithm, asked.gpus, asked.training.executor));
  return all;
}

std::set<std::string> keys_of(const Plan& plan) {
  std::set<std::string> keys;
  for (const Case& asked : plan.cases) keys.insert(asked.key());
  return keys;
}

SweepRequest measured_request() {
  SweepRequest request = small_request();
  request.evidence = {Evidence::measured};
  request.gpus = {1, 4};
  request.algorithms = {"ring", "vendor"};
  return request;
}

TEST(MeasuredPlace, IsTheGpusWhereModelsCanBeTrainedOnThem) {
  const Plan plan = plan_of(measured_request(), machine_of_four_gpus());
  EXPECT_THAT(executors_of(plan),
              ElementsAre("ring on 1: nccl-p2p", "vendor on 1: nccl", "ring on 4: nccl-p2p", "vendor on 4: nccl"));
  for (const Case& asked : plan.cases) {
    EXPECT_EQ(asked.training.device, "gpu");
    EXPECT_EQ(asked.training.precision, "tf32");
    EXPECT_EQ(asked.batch_per_gpu, 64);
    EXPECT_EQ(asked.image_size, 224);
    EXPECT_EQ(asked.source, "this machine's GPUs, LibTorch, synthetic images");
  }
  EXPECT_EQ(plan.cases.front().asked.strategy.algorithm, "none") << "the baseline";
}

TEST(MeasuredPlace, IsTheCoresWhereThereIsNoGpuAndWhereTheyAreAskedFor) {
  for (const bool gpus : {false, true}) {
    SweepRequest request = measured_request();
    request.gpus = {2};
    if (gpus) request.device = "cpu";
    const Plan plan = plan_of(request, gpus ? machine_of_four_gpus() : machine_of_two());
    EXPECT_THAT(executors_of(plan), ElementsAre("ring on 2: ", "vendor on 2: "));
    for (const Case& asked : plan.cases) EXPECT_EQ(asked.training, TrainingTask());
    EXPECT_EQ(plan.cases.front().asked.batch_per_gpu, 16);
    EXPECT_EQ(plan.cases.front().asked.image_size, 64);
  }
}

TEST(MeasuredPlace, RunsOurAlgorithmsByCudaWhereNcclIsAbsentOrGpusAreShared) {
  LocalMachine machine = machine_of_four_gpus();
  machine.absent = {{"nccl", "hbench was built without NCCL; install it"}, {"nccl-p2p", "the same"}};
  Plan plan = plan_of(measured_request(), machine);
  EXPECT_THAT(executors_of(plan), ElementsAre("ring on 1: cuda", "ring on 4: cuda"));
  EXPECT_THAT(plan.refused, ElementsAre(Refusal{"vendor", "hbench was built without NCCL; install it"}));

  machine = machine_of_four_gpus();
  machine.gpus = 1;
  machine.ranks = 4;
  machine.asked_for = true;
  plan = plan_of(measured_request(), machine);
  EXPECT_THAT(executors_of(plan),
              ElementsAre("ring on 1: nccl-p2p", "vendor on 1: nccl", "ring on 4: cuda", "vendor on 4: nccl"));
}

TEST(MeasuredPlace, IsSharedOnlyWhenAskedFor) {
  LocalMachine machine = machine_of_four_gpus();
  machine.gpus = 2;
  const Plan plan = plan_of(measured_request(), machine);
  EXPECT_THAT(executors_of(plan), ElementsAre("ring on 1: nccl-p2p", "vendor on 1: nccl"));
  EXPECT_THAT(plan.refused, ElementsAre(Refusal{"measured with 4 ranks",
                                                "this machine has 2 GPUs; --oversubscribe N lets up to N ranks share "
                                                "them"}));
}

TEST(MeasuredPlace, RunsRanksAsThreadsWhereThereIsNoMpi) {
  SweepRequest request = measured_request();
  request.gpus = {2};
  LocalMachine machine = machine_of_two();
  machine.absent["mpi"] = "hbench was built without MPI; install it";
  const Plan plan = plan_of(request, machine);
  EXPECT_THAT(executors_of(plan), ElementsAre("ring on 2: threads"));
  EXPECT_THAT(plan.refused, ElementsAre(Refusal{"vendor", "the executor threads has no library's own collectives"}));
}

TEST(MeasuredPlace, UsesTheExecutorThatWasAskedFor) {
  SweepRequest request = measured_request();
  request.gpus = {2};
  request.executor = "shm";
  const Plan shared = plan_of(request);
  EXPECT_THAT(executors_of(shared), ElementsAre("ring on 2: shm"));
  EXPECT_THAT(shared.refused, ElementsAre(Refusal{"vendor", "the executor shm has no library's own collectives"}));
  request.executor = "cuda";
  const Plan plan = plan_of(request, machine_of_four_gpus());
  EXPECT_THAT(executors_of(plan), ElementsAre("ring on 2: cuda"));
  EXPECT_EQ(plan.cases.front().asked.training.device, "gpu");
  request.executor = "nccl";
  EXPECT_THAT(executors_of(plan_of(request, machine_of_four_gpus())), ElementsAre("vendor on 2: nccl"));
}

/// `4 GPUs, 8 ranks: cuda`, of the cases that communicate.
std::vector<std::string> layouts_of(const Plan& plan) {
  std::vector<std::string> all;
  for (const Case& asked : plan.cases)
    if (asked.strategy.communicates())
      all.push_back(fmt::format("{} GPUs, {} ranks: {}", asked.gpus, asked.workers(), asked.training.executor));
  return all;
}

TEST(MeasuredPlace, LetsRanksShareGpusAsAnExperimentSays) {
  SweepRequest request = measured_request();
  request.algorithms = {"ring"};
  request.gpus = {2, 4, 8};
  request.layouts = {{1, 2, 1}, {1, 2, 2}, {1, 4, 2}, {1, 8, 1}, {2, 2, 2}};
  LocalMachine machine = machine_of_four_gpus();
  machine.allocation = parse_host_list("a:8,b:8");
  const Plan plan = plan_of(request, machine);
  EXPECT_THAT(layouts_of(plan),
              ElementsAre("2 GPUs, 2 ranks: nccl-p2p", "2 GPUs, 4 ranks: cuda", "4 GPUs, 8 ranks: cuda"));
  EXPECT_EQ(plan.cases.front().asked.processes_per_gpu, 0) << "the baseline is one process";
  EXPECT_EQ(keys_of(plan).size(), plan.cases.size());
  std::string why;
  for (const Refusal& refusal : plan.refused) why += refusal.what + ": " + refusal.why + "\n";
  EXPECT_EQ(why,
            "measured with 8 ranks on 2 nodes of 2 GPUs: NCCL, which alone reaches GPUs of other hosts, takes one rank "
            "for each GPU before 2.30\n"
            "measured with 8 ranks on 1 node of 8 GPUs: a host has 4 GPUs\n");
}

TEST(MeasuredPlace, LetsRanksShareNoCores) {
  SweepRequest request = measured_request();
  request.algorithms = {"ring"};
  request.gpus = {2};
  request.layouts = {{1, 2, 1}, {1, 2, 2}};
  const Plan plan = plan_of(request, machine_of_two());
  EXPECT_THAT(layouts_of(plan), ElementsAre("2 GPUs, 2 ranks: "));
  ASSERT_EQ(plan.refused.size(), 1U);
  EXPECT_EQ(plan.refused[0].why, "ranks share GPUs alone; --oversubscribe lets them share cores");
}

TEST(MeasuredPlace, CompressesOverNcclWhatHasKernelsForAGpu) {
  SweepRequest request = measured_request();
  request.gpus = {4};
  request.algorithms = {"ring"};
  request.compressors = {"fp16", "topk:0.01"};
  request.fusions = {"ddp"};
  const Plan plan = plan_of(request, machine_of_four_gpus());
  if (!cuda_compresses(*parse_compressor("fp16").compressor)) GTEST_SKIP() << "built without CUDA: no codecs on GPUs";
  EXPECT_THAT(executors_of(plan), ElementsAre("ring on 4: nccl-p2p", "ring on 4: nccl-p2p"))
      << "one encodes every hop, the other once";
  request.compressors = {"dgc"};
  const std::vector<Refusal> refused = plan_of(request, machine_of_four_gpus()).refused;
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_THAT(refused[0].why, HasSubstr("dgc has no kernels for a GPU; these have: fp16"));
}

// Both code the messages that leave a rank.
TEST(MeasuredPlace, TrainsByMomentaOverNccl) {
  SweepRequest request = measured_request();
  request.gpus = {4};
  request.algorithms = {"ring"};
  request.methods = {"1-bit-adam", "qadam"};
  request.optimizer = parse_optimizer("adam");
  const Plan plan = plan_of(request, machine_of_four_gpus());
  if (!cuda_compresses(*parse_compressor("fp16").compressor)) GTEST_SKIP() << "built without CUDA: no codecs on GPUs";
  EXPECT_THAT(plan.refused, IsEmpty());
  EXPECT_THAT(executors_of(plan), ElementsAre("ring on 4: nccl-p2p", "ring on 4: nccl-p2p"));
}

TEST(MeasuredPlace, TrainsInThePrecisionThatWasAskedFor) {
  SweepRequest request = measured_request();
  request.precision = "bf16";
  EXPECT_EQ(plan_of(request).cases.front().asked.training.precision, "bf16");
  request.precision = "float32";
  EXPECT_EQ(plan_of(request, machine_of_four_gpus()).cases.front().asked.training.precision, "");
}

TEST(MeasuredPlace, SaysWhyThereAreNoGpusAsAMatterOfTheMachine) {
  SweepRequest request = measured_request();
  request.device = "gpu";
  expect_error([&] { plan_of(request); }, ExitCode::environment, "nothing to do: every combination was refused",
               "measured runs on GPUs: a test's machine has no GPU; get one");
  request.evidence.insert(Evidence::simulated);
  const Plan plan = plan_of(request);
  EXPECT_THAT(executors_of(plan), Not(IsEmpty())) << "the rest goes on";
}

TEST(MeasuredPlace, RefusesNamesAndPairsThatMakeNoSense) {
  const auto refused = [](auto change, const char* message, const char* hint) {
    SweepRequest request = measured_request();
    change(request);
    expect_error([&] { plan_of(request); }, ExitCode::usage, message, HasSubstr(hint));
  };
  refused([](SweepRequest& r) { r.device = "gpus"; }, "no device 'gpus'; did you mean 'gpu'?", "cpu, gpu");
  refused([](SweepRequest& r) { r.executor = "ncl"; }, "no executor 'ncl'; did you mean 'nccl'?", "");
  refused([](SweepRequest& r) { r.executor = "simulate"; }, "--executor simulate: it computes times, and measures none",
          "--evidence");
  refused([](SweepRequest& r) { r.precision = "fp8"; }, "no precision 'fp8'; did you mean 'fp16'?", "bf16");
  refused([](SweepRequest& r) { r.precision = "fp16"; }, "--precision fp16 needs a GPU, and is asked for on CPU cores",
          "float32 and bf16");
  refused(
      [](SweepRequest& r) {
        r.executor = "cuda";
        r.device = "cpu";
      },
      "--executor cuda does not work on --device cpu", "hbench list executors");
}

}  // namespace
}  // namespace hbench::measured_place_test
